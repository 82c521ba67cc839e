// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// fieldManager is the name under which this controller's fields are owned.
const fieldManager = "paddlejob-controller-kubeflow"

// sync brings one job forward: read, decide, write. It returns when to look again without a change, 0 for never.
func (c *Controller) sync(ctx context.Context, key string) (time.Duration, error) {
	v, err := c.read(key)
	if err != nil || v == nil {
		return 0, err
	}
	ctx = klog.NewContext(ctx, klog.LoggerWithValues(klog.FromContext(ctx), "kubeflowJob", klog.KObj(v.Job)))
	plan, failed := c.applyPlan(ctx, v)
	if v.Job == nil {
		return 0, nil // it was deleted
	}
	if err := c.updateStatus(ctx, v, &plan); failed == nil {
		failed = err
	}
	if failed != nil {
		return 0, failed
	}
	return plan.RequeueAfter, nil
}

// read gathers what the caches hold of a job, nil if it is gone.
func (c *Controller) read(key string) (*State, error) {
	object, exists, err := c.jobs.GetIndexer().GetByKey(key)
	if err != nil {
		return nil, fmt.Errorf("reading the job from the cache: %w", err)
	}
	job, ok := object.(*kubeflowv1.PaddleJob)
	if !exists || !ok {
		return nil, nil //nolint:nilnil // a job that is gone is no error
	}
	v := &State{Now: c.now(), Job: job}
	object, _, err = c.made.GetIndexer().GetByKey(key)
	if err != nil {
		return nil, fmt.Errorf("reading its PaddleJob from the cache: %w", err)
	}
	if named, ok := object.(*batchv1.PaddleJob); ok {
		v.Named = named
	}
	return v, nil
}

// readUncached makes sure of what the caches may not have (yet) before a PaddleJob is made: that the job has not ended,
// because it must never start again, and that neither a PaddleJob of its name nor pods of the training operator's are
// there. The view has no job if that is gone.
func (c *Controller) readUncached(ctx context.Context, v *State) error {
	namespace, name, uid := v.Job.Namespace, v.Job.Name, v.Job.UID
	job, err := c.clients.Jobs.Get(ctx, namespace, name)
	if apierrors.IsNotFound(err) || err == nil && job.UID != uid {
		v.Job = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the job before its PaddleJob is made: %w", err)
	}
	v.Job = job
	named, err := c.clients.Paddle.BatchV1().PaddleJobs(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err == nil:
		v.Named = named
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("looking for a PaddleJob of the job's name: %w", err)
	}
	pods, err := c.clients.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: kubeflowv1.JobNameLabel + "=" + name})
	if err != nil {
		return fmt.Errorf("looking for pods of Kubeflow's training operator: %w", err)
	}
	v.OperatorPods = operatorPods(pods.Items, job)
	return nil
}

// operatorPods are the names of the pods that belong to the job itself; ours belong to a Volcano Job.
func operatorPods(pods []corev1.Pod, job *kubeflowv1.PaddleJob) []string {
	var names []string
	for i := range pods {
		if metav1.IsControlledBy(&pods[i], job) {
			names = append(names, pods[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

// applyPlan decides and acts, and keeps the observed state true to what it did.
func (c *Controller) applyPlan(ctx context.Context, v *State) (Plan, error) {
	plan := Decide(v, c.options.Etcd)
	if plan.Create != nil {
		if err := c.readUncached(ctx, v); err != nil || v.Job == nil {
			return plan, err
		}
		plan = Decide(v, c.options.Etcd)
	}
	err := c.act(ctx, v, &plan)
	if workers.Refused(err) {
		v.Refusal = err.Error()
		plan = Decide(v, c.options.Etcd)
	}
	return plan, err
}

func (c *Controller) act(ctx context.Context, v *State, plan *Plan) error {
	paddleJobs := c.clients.Paddle.BatchV1().PaddleJobs(v.Job.Namespace)
	switch {
	case plan.Delete:
		err := c.clients.Jobs.Delete(ctx, v.Job)
		if err == nil {
			klog.FromContext(ctx).Info("Deleted the job, which had ended", "ttlSecondsAfterFinished", *v.Job.Spec.RunPolicy.TTLSecondsAfterFinished)
		}
		if err = staleWrite(err); err != nil {
			return fmt.Errorf("deleting a job that has ended: %w", err)
		}
	case plan.Create != nil:
		created, err := paddleJobs.Create(ctx, plan.Create, metav1.CreateOptions{FieldManager: fieldManager})
		if apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating the PaddleJob: %w", workers.ErrStale)
		}
		if err != nil {
			return fmt.Errorf("creating the PaddleJob: %w", err)
		}
		klog.FromContext(ctx).Info("Created the PaddleJob", "uid", created.UID)
		v.Named = created
	case plan.Update != nil:
		updated, err := paddleJobs.Update(ctx, plan.Update, metav1.UpdateOptions{FieldManager: fieldManager})
		if err = staleWrite(err); err != nil {
			return fmt.Errorf("updating the PaddleJob: %w", err)
		}
		klog.FromContext(ctx).V(1).Info("Updated the PaddleJob")
		v.Named = updated
	}
	return nil
}

// staleWrite is the error of a write over a version that is not the newest any more.
func staleWrite(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return fmt.Errorf("%w: %w", workers.ErrStale, err)
	}
	return err
}

// updateStatus writes the status if it says something new and tells the events that this is worth.
func (c *Controller) updateStatus(ctx context.Context, v *State, plan *Plan) error {
	if plan.Delete {
		return nil
	}
	before, after := &v.Job.Status, Next(v, plan)
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	changed := v.Job.DeepCopy()
	changed.Status = *after
	if err := staleWrite(c.clients.Jobs.UpdateStatus(ctx, changed)); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	about := &corev1.ObjectReference{
		APIVersion: kubeflowv1.SchemeGroupVersion.String(), Kind: kubeflowv1.Kind,
		Namespace: v.Job.Namespace, Name: v.Job.Name, UID: v.Job.UID, ResourceVersion: v.Job.ResourceVersion,
	}
	for _, event := range Events(before, after, plan.Warnings) {
		c.recorder.Event(about, event.Type, event.Reason, event.Message)
	}
	return nil
}
