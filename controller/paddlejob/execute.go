// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/legacy"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// FieldManager is the name under which the controller's fields are owned.
const FieldManager = "paddlejob-controller"

// execute executes one action of a plan, and updates the observed state.
func (c *Controller) execute(ctx context.Context, obs *observed.State, action lifecycle.Action) error {
	return c.unlessReverted(writeKey(obs, action), func() error { return c.do(ctx, obs, action) })
}

func writeKey(obs *observed.State, action lifecycle.Action) string {
	return fmt.Sprintf("%s %s %T", keyOf(obs.Job), obs.Job.UID, action)
}

func (c *Controller) do(ctx context.Context, obs *observed.State, action lifecycle.Action) error {
	switch a := action.(type) {
	case lifecycle.ReleaseFinalizer:
		return c.releaseFinalizer(ctx, obs)
	case lifecycle.CreateVolcanoJob:
		return c.createVolcanoJob(ctx, obs, a)
	case lifecycle.ApplyPodGroup:
		return c.applyPodGroup(ctx, obs, a)
	case lifecycle.WriteEnvironment:
		return c.writeEnvironment(ctx, obs, a)
	case lifecycle.IssueCommand:
		return c.issueCommand(ctx, obs, a)
	case lifecycle.NotePodGroup:
		return c.notePodGroup(ctx, obs, a)
	case lifecycle.NoteFinalStatus:
		return c.patchJob(ctx, obs, metadata(obs.Job, map[string]string{v1.FinalStatusAnnotation: a.Value}, nil),
			"annotating the PaddleJob with its final status")
	case lifecycle.MovePorts:
		return c.movePorts(ctx, obs, a)
	case lifecycle.AnnouncePods:
		return c.announcePods(ctx, obs, a)
	case lifecycle.ScaleVolcanoJob:
		return c.scaleVolcanoJob(ctx, obs, a)
	case lifecycle.Delete:
		return c.delete(ctx, obs, a)
	}
	return fmt.Errorf("unknown action %T", action)
}

// releaseFinalizer removes paddle-operator's finalizer, so that the PaddleJob can be deleted.
func (c *Controller) releaseFinalizer(ctx context.Context, obs *observed.State) error {
	patch := map[string]any{"metadata": map[string]any{
		"finalizers": legacy.WithoutFinalizer(obs.Job), "resourceVersion": obs.Job.ResourceVersion,
	}}
	if err := c.patchJob(ctx, obs, patch, "releasing paddle-operator's finalizer"); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Released paddle-operator's finalizer")
	return nil
}

// patchJob patches the PaddleJob, unless it no longer exists.
func (c *Controller) patchJob(ctx context.Context, obs *observed.State, changes map[string]any, doing string) error {
	patch, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	patched, err := c.clients.Paddle.BatchV1().PaddleJobs(obs.Job.Namespace).Patch(ctx, obs.Job.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return writeError(err, doing)
	}
	c.mutatedJobs.put(keyOf(patched), mutation[*v1.PaddleJob]{patched, obs.Job.ResourceVersion, c.now()})
	obs.Job = patched
	return nil
}

// patchVolcanoJob patches the Volcano Job. The observed state has it only if admission has changed nothing that was written: changed
// names the first field that is not as it was.
func (c *Controller) patchVolcanoJob(ctx context.Context, obs *observed.State, changes map[string]any, doing string,
	changed func(have *vcbatch.Job) (field string),
) error {
	patch, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	job := obs.VolcanoJob
	patched, err := c.clients.Volcano.BatchV1alpha1().Jobs(job.Namespace).Patch(ctx, job.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return writeError(err, doing)
	}
	c.mutatedVolcanoJobs.put(keyOf(patched), mutation[*vcbatch.Job]{patched, job.ResourceVersion, c.now()})
	if err := changedByAdmission("Volcano Job", patched.Name, changed(patched)); err != nil {
		return err
	}
	obs.VolcanoJob = patched
	return nil
}

// writeError is the error of a write: stale if the object has changed or no longer exists, a rejection if the API server refuses it.
func writeError(err error, doing string) error {
	return rejectionOr(fmt.Errorf("%s: %w", doing, workers.Stale(err)))
}

// delete deletes exactly the object that was observed, never another of its name.
func (c *Controller) delete(ctx context.Context, obs *observed.State, a lifecycle.Delete) error {
	namespace, name, uid := a.Object.GetNamespace(), a.Object.GetName(), a.Object.GetUID()
	options := metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: &uid},
		PropagationPolicy: ptr.To(metav1.DeletePropagationBackground),
	}
	var err error
	switch a.Kind {
	case lifecycle.KindVolcanoJob:
		// Its pods' names are needed again: it must not be gone before they are.
		options.PropagationPolicy = ptr.To(metav1.DeletePropagationForeground)
		err = c.clients.Volcano.BatchV1alpha1().Jobs(namespace).Delete(ctx, name, options)
		c.mutatedVolcanoJobs.forget(keyOf(a.Object))
	case lifecycle.KindPodGroup:
		err = c.clients.Volcano.SchedulingV1beta1().PodGroups(namespace).Delete(ctx, name, options)
		c.mutatedPodGroups.forget(keyOf(a.Object))
		obs.PodGroup = nil
	case lifecycle.KindConfigMap:
		err = c.clients.Kube.CoreV1().ConfigMaps(namespace).Delete(ctx, name, options)
		c.mutatedEnvironments.forget(keyOf(a.Object))
		obs.Environment = nil
	case lifecycle.KindPod:
		err = c.clients.Kube.CoreV1().Pods(namespace).Delete(ctx, name, options)
	case lifecycle.KindService:
		err = c.clients.Kube.CoreV1().Services(namespace).Delete(ctx, name, options)
	case lifecycle.KindPaddleJob:
		// Its time to live may have changed meanwhile.
		options.Preconditions.ResourceVersion = ptr.To(a.Object.GetResourceVersion())
		err = c.clients.Paddle.BatchV1().PaddleJobs(namespace).Delete(ctx, name, options)
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return writeError(err, fmt.Sprintf("deleting the %s %s", a.Kind, name))
	}
	klog.FromContext(ctx).V(1).Info("Deleted", "kind", a.Kind, "object", klog.KRef(namespace, name), "uid", uid)
	return nil
}

// createVolcanoJob creates the Volcano Job, or finds that an earlier sync did.
func (c *Controller) createVolcanoJob(ctx context.Context, obs *observed.State, a lifecycle.CreateVolcanoJob) error {
	jobs := c.clients.Volcano.BatchV1alpha1().Jobs(a.Job.Namespace)
	if before, ok := c.revertedWrites.get(writeKey(obs, a)); ok {
		// Admission changed the last one. The dry run shows whether it still would.
		tried, err := jobs.Create(ctx, a.Job, metav1.CreateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return &rejection{reason: ReasonChangedByAdmission, text: fmt.Sprintf("%s (asking whether it still does: %v)", before.refused.text, err), cause: err}
		}
		if err := admissionChanges(a.Job, tried); err != nil {
			return err
		}
	}
	created, err := jobs.Create(ctx, a.Job, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return c.adoptVolcanoJob(ctx, obs, a.Job)
	}
	if err != nil {
		return rejectionOr(fmt.Errorf("creating the Volcano Job: %w", err))
	}
	if changed := admissionChanges(a.Job, created); changed != nil {
		// Without its labels and annotations its origin would not be known.
		return errors.Join(changed, c.delete(ctx, obs, lifecycle.Delete{Kind: lifecycle.KindVolcanoJob, Object: created}))
	}
	klog.FromContext(ctx).Info("Created the Volcano Job", "uid", created.UID)
	obs.VolcanoJob = created
	c.mutatedVolcanoJobs.put(keyOf(created), mutation[*vcbatch.Job]{created, "", c.now()})
	for _, event := range a.Events {
		c.recorder.Event(obs.Job, event.Type, event.Reason, event.Message)
	}
	return nil
}

// admissionChanges reports that a Volcano Job does not have the controller's labels and annotations that it was made with.
func admissionChanges(want, have *vcbatch.Job) error {
	return changedByAdmission("Volcano Job", want.Name, cmp.Or(
		changedEntry("metadata.labels", ownKeys(want.Labels), have.Labels),
		changedEntry("metadata.annotations", ownKeys(want.Annotations), have.Annotations)))
}

// adoptVolcanoJob continues with a Volcano Job of the job's own that the cache does not have yet.
func (c *Controller) adoptVolcanoJob(ctx context.Context, obs *observed.State, want *vcbatch.Job) error {
	jobs := c.clients.Volcano.BatchV1alpha1().Jobs(want.Namespace)
	found, err := jobs.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Volcano Job of the job's name: %w", err)
	}
	if !metav1.IsControlledBy(found, obs.Job) {
		return fmt.Errorf("a Volcano Job of the job's name was created: %w", errStale)
	}
	obs.VolcanoJob = found
	return nil
}

// restoreLabel restores the label of the job's Volcano Job that another program removed. The cache has too little of a Job without it, and
// its pods would not be recognized.
func (c *Controller) restoreLabel(ctx context.Context, obs *observed.State) error {
	label := map[string]string{v1.JobNameLabel: obs.VolcanoJob.Name}
	patch := map[string]any{"metadata": map[string]any{"uid": obs.VolcanoJob.UID, "labels": label}}
	return c.unlessReverted(fmt.Sprintf("%s %s label", keyOf(obs.Job), obs.Job.UID), func() error {
		return c.patchVolcanoJob(ctx, obs, patch, "restoring the Volcano Job's label", func(have *vcbatch.Job) string {
			return changedEntry("metadata.labels", label, have.Labels)
		})
	})
}

// issueCommand creates a Command for Volcano, unless it has not read the last one yet.
func (c *Controller) issueCommand(ctx context.Context, obs *observed.State, a lifecycle.IssueCommand) error {
	if ago, given := c.commandSent.since(a.Command.Name, c.now()); given && ago < volcano.CommandPeriod {
		return nil // it is processing it
	}
	c.commandSent.forget(a.Command.Name)
	key := keyOf(obs.Job) + " "
	c.sentCommands.put(key+a.Command.Action, volcano.SentCommand{Job: obs.VolcanoJob.UID, Attempt: obs.VolcanoJob.Status.RetryCount, At: c.now()})
	if a.Command.Action == string(vcbus.ResumeJobAction) {
		c.sentCommands.forget(key + string(vcbus.AbortJobAction)) // Volcano has executed it
	}
	_, err := c.clients.Volcano.BusV1alpha1().Commands(a.Command.Namespace).Create(ctx, a.Command, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		c.unacknowledged.forget(a.State) // Volcano does not read any
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating the Command %s: %w", a.Command.Action, err)
	}
	c.commandSent.since(a.Command.Name, c.now())
	if a.State != "" {
		sent, _ := c.unacknowledged.get(a.State)
		c.unacknowledged.put(a.State, sent.Sent(c.now()))
	}
	klog.FromContext(ctx).Info("Created a Command for Volcano", "action", a.Command.Action, "reason", a.Command.Message)
	return nil
}

// scaleVolcanoJob changes the numbers of pods of exactly the Volcano Job that was observed.
func (c *Controller) scaleVolcanoJob(ctx context.Context, obs *observed.State, a lifecycle.ScaleVolcanoJob) error {
	patch := map[string]any{
		"metadata": map[string]any{"uid": obs.VolcanoJob.UID, "resourceVersion": obs.VolcanoJob.ResourceVersion},
		"spec":     map[string]any{"minAvailable": a.Job.Spec.MinAvailable, "tasks": a.Job.Spec.Tasks},
	}
	if err := c.patchVolcanoJob(ctx, obs, patch, "scaling the Volcano Job", func(have *vcbatch.Job) string {
		if lifecycle.SameSize(a.Job, have) {
			return ""
		}
		return "spec.tasks[*].replicas or minAvailable"
	}); err != nil {
		return err
	}
	klog.FromContext(ctx).Info("Scaled the Volcano Job", "minAvailable", obs.VolcanoJob.Spec.MinAvailable)
	if a.WorkerCap != nil {
		c.workerCaps.put(string(obs.VolcanoJob.UID), *a.WorkerCap)
	}
	return nil
}

// notePodGroup writes on the Volcano Job which PodGroup of the user's was taken into account, and emits an event once.
func (c *Controller) notePodGroup(ctx context.Context, obs *observed.State, a lifecycle.NotePodGroup) error {
	note := map[string]string{v1.UserPodGroupAnnotation: string(a.PodGroup.UID)}
	if err := c.patchVolcanoJob(ctx, obs, metadata(obs.VolcanoJob, note, nil), "noting the user's PodGroup", func(have *vcbatch.Job) string {
		return changedEntry("metadata.annotations", note, have.Annotations)
	}); err != nil {
		return err
	}
	c.recorder.Event(obs.Job, a.Event.Type, a.Event.Reason, a.Event.Message)
	return nil
}

// applyPodGroup creates or repairs the PodGroup, whichever of the two controllers was first.
func (c *Controller) applyPodGroup(ctx context.Context, obs *observed.State, a lifecycle.ApplyPodGroup) error {
	if obs.Phase() != "" {
		// A cached Volcano Job may have finished since; a PodGroup made now would hold capacity of the queue.
		fresh, err := c.clients.Volcano.BatchV1alpha1().Jobs(obs.VolcanoJob.Namespace).Get(ctx, obs.VolcanoJob.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Volcano Job before its PodGroup is made: %w", ignoreNotFound(err))
		}
		if fresh.UID != obs.VolcanoJob.UID || fresh.DeletionTimestamp != nil || !observed.IsActive(fresh.Status.State.Phase) {
			return nil
		}
	}
	if obs.PodGroup == nil {
		return c.createPodGroup(ctx, obs, a.PodGroup)
	}
	body, err := json.Marshal(lifecycle.PodGroupOwned(a.PodGroup, obs.PodGroup.UID))
	if err != nil {
		return fmt.Errorf("encoding the PodGroup: %w", err)
	}
	applied, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(a.PodGroup.Namespace).Patch(ctx, a.PodGroup.Name,
		types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: FieldManager, Force: ptr.To(true)})
	if err != nil {
		return writeError(err, "applying the PodGroup")
	}
	c.mutatedPodGroups.put(keyOf(applied), mutation[*vcscheduling.PodGroup]{applied, obs.PodGroup.ResourceVersion, c.now()})
	obs.PodGroup = applied
	return nil
}

// createPodGroup creates the whole PodGroup, as Volcano's Job controller does, unless that was first.
func (c *Controller) createPodGroup(ctx context.Context, obs *observed.State, group *vcscheduling.PodGroup) error {
	created, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(group.Namespace).Create(ctx, group, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil // the watch brings it
	}
	if err != nil {
		return rejectionOr(fmt.Errorf("creating the PodGroup: %w", err))
	}
	c.mutatedPodGroups.put(keyOf(created), mutation[*vcscheduling.PodGroup]{created, "", c.now()})
	obs.PodGroup = created
	return nil
}
