// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// FieldManager is the name under which the controller's fields are owned.
const FieldManager = "paddlejob-controller"

// act does one action of a plan and keeps the view true to what it did.
func (c *Controller) act(ctx context.Context, v *view.View, action policy.Action) error {
	return c.unlessUndone(undoneKey(v, action), func() error { return c.do(ctx, v, action) })
}

func undoneKey(v *view.View, action policy.Action) string {
	return fmt.Sprintf("%s %T", keyOf(v.Job), action)
}

func (c *Controller) do(ctx context.Context, v *view.View, action policy.Action) error {
	switch a := action.(type) {
	case policy.ReleaseFinalizer:
		return c.releaseFinalizer(ctx, v)
	case policy.CreateVolcanoJob:
		return c.createVolcanoJob(ctx, v, a)
	case policy.ApplyPodGroup:
		return c.applyPodGroup(ctx, v, a)
	case policy.WriteEnvironment:
		return c.writeEnvironment(ctx, v, a)
	case policy.IssueCommand:
		return c.issueCommand(ctx, a)
	case policy.NotePodGroup:
		return c.notePodGroup(ctx, v, a)
	case policy.NoteFinalStatus:
		return c.noteFinalStatus(ctx, v, a)
	case policy.MovePorts:
		return c.movePorts(ctx, v, a)
	case policy.AnnouncePods:
		return c.announcePods(ctx, v, a)
	case policy.ScaleVolcanoJob:
		return c.scaleVolcanoJob(ctx, v, a)
	case policy.Delete:
		return c.delete(ctx, v, a)
	}
	return fmt.Errorf("no way to do %T: this is a mistake in the controller", action)
}

// releaseFinalizer lets a PaddleJob of paddle-operator's be deleted.
func (c *Controller) releaseFinalizer(ctx context.Context, v *view.View) error {
	left := slices.DeleteFunc(slices.Clone(v.Job.Finalizers), func(f string) bool { return f == keys.OperatorFinalizer })
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": left, "resourceVersion": v.Job.ResourceVersion,
	}})
	if err != nil {
		return fmt.Errorf("releasing paddle-operator's finalizer: %w", err)
	}
	patched, err := c.clients.Paddle.BatchV1().PaddleJobs(v.Job.Namespace).Patch(ctx, v.Job.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("releasing paddle-operator's finalizer: %w", errStale)
	case err != nil:
		return fmt.Errorf("releasing paddle-operator's finalizer: %w", gone(err))
	}
	klog.FromContext(ctx).Info("Released paddle-operator's finalizer")
	v.Job = patched
	return nil
}

// noteFinalStatus annotates the PaddleJob with how it ended.
func (c *Controller) noteFinalStatus(ctx context.Context, v *view.View, a policy.NoteFinalStatus) error {
	patch, err := metadata(v.Job, map[string]string{keys.FinalStatus: a.Value}, nil)
	if err != nil {
		return fmt.Errorf("annotating the PaddleJob with its final status: %w", err)
	}
	patched, err := c.clients.Paddle.BatchV1().PaddleJobs(v.Job.Namespace).Patch(ctx, v.Job.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("annotating the PaddleJob with its final status: %w", errStale)
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("annotating the PaddleJob with its final status: %w", err)
	}
	c.assumedJobs.put(keyOf(patched), patched, v.Job.ResourceVersion)
	v.Job = patched
	return nil
}

// delete deletes the very object that was seen, never another of its name.
func (c *Controller) delete(ctx context.Context, v *view.View, a policy.Delete) error {
	namespace, name, uid := a.Object.GetNamespace(), a.Object.GetName(), a.Object.GetUID()
	options := metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	}
	var err error
	switch a.Kind {
	case policy.KindVolcanoJob:
		// Its pods' names are needed again: it must not be gone before they are.
		options.PropagationPolicy = ptr.To(metav1.DeletePropagationForeground)
		err = c.clients.Volcano.BatchV1alpha1().Jobs(namespace).Delete(ctx, name, options)
		c.assumedVolcanoJobs.forget(keyOf(a.Object))
	case policy.KindPodGroup:
		err = c.clients.Volcano.SchedulingV1beta1().PodGroups(namespace).Delete(ctx, name, options)
		c.assumedPodGroups.forget(keyOf(a.Object))
		v.PodGroup = nil
	case policy.KindConfigMap:
		err = c.clients.Kube.CoreV1().ConfigMaps(namespace).Delete(ctx, name, options)
		c.assumedEnvironments.forget(keyOf(a.Object))
		v.Environment = nil
	case policy.KindPod:
		err = c.clients.Kube.CoreV1().Pods(namespace).Delete(ctx, name, options)
	case policy.KindService:
		err = c.clients.Kube.CoreV1().Services(namespace).Delete(ctx, name, options)
	case policy.KindPaddleJob:
		// Its time may have been changed meanwhile.
		options.Preconditions.ResourceVersion = ptr.To(a.Object.GetResourceVersion())
		err = c.clients.Paddle.BatchV1().PaddleJobs(namespace).Delete(ctx, name, options)
	}
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case apierrors.IsConflict(err):
		return fmt.Errorf("deleting the %s %s: %w", a.Kind, name, errStale)
	case err != nil:
		return fmt.Errorf("deleting the %s %s: %w", a.Kind, name, err)
	}
	klog.FromContext(ctx).V(1).Info("Deleted", "kind", a.Kind, "object", klog.KRef(namespace, name), "uid", uid)
	return nil
}
