// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// createVolcanoJob makes the Volcano Job, or finds that an earlier sync did.
func (c *Controller) createVolcanoJob(ctx context.Context, v *view.View, a policy.CreateVolcanoJob) error {
	jobs := c.clients.Volcano.BatchV1alpha1().Jobs(a.Job.Namespace)
	if before, _ := c.undone.of(undoneKey(v, a), c.now()); before != nil {
		// Admission changed the last one. This asks whether it still would, and makes nothing.
		tried, err := jobs.Create(ctx, a.Job, metav1.CreateOptions{FieldManager: FieldManager, DryRun: []string{metav1.DryRunAll}})
		if err != nil {
			return &refusal{reason: ReasonChangedByAdmission, text: fmt.Sprintf("%s (asking whether it still does: %v)", before.text, err), cause: err}
		}
		if err := admissionChanges(a.Job, tried); err != nil {
			return err
		}
	}
	created, err := jobs.Create(ctx, a.Job, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return c.adoptVolcanoJob(ctx, v, a.Job)
	}
	if err != nil {
		return refusedOr(fmt.Errorf("creating the Volcano Job: %w", err))
	}
	if changed := admissionChanges(a.Job, created); changed != nil {
		// Without its marks nobody would know what it was made from.
		return errors.Join(changed, c.delete(ctx, v, policy.Delete{Kind: policy.KindVolcanoJob, Object: created}))
	}
	klog.FromContext(ctx).Info("Created the Volcano Job", "uid", created.UID)
	v.VolcanoJob = created
	c.assumedVolcanoJobs.put(keyOf(created), created, "")
	for _, event := range a.Events {
		c.tell(v.Job, event)
	}
	return nil
}

// admissionChanges reports that a Volcano Job does not have the controller's labels and annotations that it was made with.
func admissionChanges(want, have *vcbatch.Job) error {
	return changedByAdmission("Volcano Job", want.Name, cmp.Or(
		changedEntry("metadata.labels", ours(want.Labels), have.Labels),
		changedEntry("metadata.annotations", ours(want.Annotations), have.Annotations)))
}

// adoptVolcanoJob goes on with a Volcano Job of ours that the cache does not have yet.
func (c *Controller) adoptVolcanoJob(ctx context.Context, v *view.View, want *vcbatch.Job) error {
	jobs := c.clients.Volcano.BatchV1alpha1().Jobs(want.Namespace)
	found, err := jobs.Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("reading the Volcano Job of the job's name: %w", err)
	}
	if !metav1.IsControlledBy(found, v.Job) {
		return fmt.Errorf("a Volcano Job of the job's name came up: %w", errStale)
	}
	v.VolcanoJob = found
	return nil
}

// relabelled gives a Volcano Job of ours its label back that somebody took off. The cache has too little of such a Job, and
// none of its pods would be known to be the job's own.
func (c *Controller) relabelled(ctx context.Context, found *vcbatch.Job) (mended *vcbatch.Job, err error) {
	err = c.unlessUndone(keyOf(found)+" label", func() error {
		mended, err = c.relabel(ctx, found)
		return err
	})
	return mended, err
}

func (c *Controller) relabel(ctx context.Context, found *vcbatch.Job) (*vcbatch.Job, error) {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": found.UID, "labels": map[string]string{keys.JobName: found.Name},
	}})
	if err != nil {
		return nil, fmt.Errorf("restoring the Volcano Job's label: %w", err)
	}
	mended, err := c.clients.Volcano.BatchV1alpha1().Jobs(found.Namespace).Patch(ctx, found.Name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager})
	if err != nil {
		return nil, fmt.Errorf("restoring the Volcano Job's label: %w", err)
	}
	c.assumedVolcanoJobs.put(keyOf(mended), mended, found.ResourceVersion)
	return mended, changedByAdmission("Volcano Job", found.Name, changedEntry("metadata.labels", map[string]string{keys.JobName: found.Name}, mended.Labels))
}

// notePodGroup writes on the Volcano Job which PodGroup of the user's was taken into account, and tells it once.
func (c *Controller) notePodGroup(ctx context.Context, v *view.View, a policy.NotePodGroup) error {
	note := map[string]string{keys.OwnPodGroup: string(a.PodGroup.UID)}
	patch, err := metadata(v.VolcanoJob, note, nil)
	if err != nil {
		return fmt.Errorf("noting the user's PodGroup: %w", err)
	}
	noted, err := c.clients.Volcano.BatchV1alpha1().Jobs(v.VolcanoJob.Namespace).Patch(ctx, v.VolcanoJob.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("noting the user's PodGroup: %w", errStale)
	case err != nil:
		return fmt.Errorf("noting the user's PodGroup: %w", err)
	}
	c.assumedVolcanoJobs.put(keyOf(noted), noted, v.VolcanoJob.ResourceVersion)
	if err := changedByAdmission("Volcano Job", noted.Name, changedEntry("metadata.annotations", note, noted.Annotations)); err != nil {
		return err
	}
	v.VolcanoJob = noted
	c.tell(v.Job, a.Event)
	return nil
}

// applyPodGroup makes or mends the PodGroup, whichever of the two controllers came first.
func (c *Controller) applyPodGroup(ctx context.Context, v *view.View, a policy.ApplyPodGroup) error {
	if v.VolcanoJob.Status.State.Phase != "" {
		// A cached Volcano Job may have ended since; a PodGroup made now would hold room in the queue.
		fresh, err := c.clients.Volcano.BatchV1alpha1().Jobs(v.VolcanoJob.Namespace).Get(ctx, v.VolcanoJob.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Volcano Job before its PodGroup is made: %w", gone(err))
		}
		if fresh.UID != v.VolcanoJob.UID || fresh.DeletionTimestamp != nil || !policy.WantsPodGroup(fresh.Status.State.Phase) {
			return nil
		}
	}
	if v.PodGroup == nil {
		return c.createPodGroup(ctx, v, a.PodGroup)
	}
	owned := policy.PodGroupOwned(a.PodGroup)
	if metadata, ok := owned["metadata"].(map[string]any); ok {
		metadata["uid"] = v.PodGroup.UID // an apply without it would create a PodGroup of these fields alone
	}
	body, err := json.Marshal(owned)
	if err != nil {
		return fmt.Errorf("encoding the PodGroup: %w", err)
	}
	applied, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(a.PodGroup.Namespace).Patch(ctx, a.PodGroup.Name,
		types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: FieldManager, Force: ptr.To(true)})
	switch {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return fmt.Errorf("applying the PodGroup: %w", errStale)
	case err != nil:
		return refusedOr(fmt.Errorf("applying the PodGroup: %w", err))
	}
	c.assumedPodGroups.put(keyOf(applied), applied, v.PodGroup.ResourceVersion)
	v.PodGroup = applied
	return nil
}

// createPodGroup creates the whole PodGroup, as Volcano's Job controller would, unless that was first.
func (c *Controller) createPodGroup(ctx context.Context, v *view.View, group *vcscheduling.PodGroup) error {
	created, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(group.Namespace).Create(ctx, group, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil // the watch brings it
	}
	if err != nil {
		return refusedOr(fmt.Errorf("creating the PodGroup: %w", err))
	}
	c.assumedPodGroups.put(keyOf(created), created, "")
	v.PodGroup = created
	return nil
}

// issueCommand gives Volcano a command, unless it has not read the last one yet.
func (c *Controller) issueCommand(ctx context.Context, a policy.IssueCommand) error {
	if ago, given := c.commanded.since(a.Command.Name, c.now()); given && ago < policy.CommandPeriod {
		return nil // it is at it
	}
	c.commanded.forget(a.Command.Name)
	_, err := c.clients.Volcano.BusV1alpha1().Commands(a.Command.Namespace).Create(ctx, a.Command, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		c.unheeded.forget(a.State) // Volcano does not read any
		return nil
	}
	if err != nil {
		return fmt.Errorf("giving Volcano the command %s: %w", a.Command.Action, err)
	}
	c.commanded.since(a.Command.Name, c.now())
	if a.State != "" {
		c.unheeded.add(a.State, c.now())
	}
	klog.FromContext(ctx).Info("Gave Volcano a command", "action", a.Command.Action, "reason", a.Command.Message)
	return nil
}

// writeEnvironment makes the ConfigMap that the containers wait for, or mends ours.
func (c *Controller) writeEnvironment(ctx context.Context, v *view.View, a policy.WriteEnvironment) error {
	configMaps := c.clients.Kube.CoreV1().ConfigMaps(a.ConfigMap.Namespace)
	var written *corev1.ConfigMap
	var err error
	over := ""
	if a.Old == nil {
		written, err = configMaps.Create(ctx, a.ConfigMap, metav1.CreateOptions{FieldManager: FieldManager})
	} else {
		over = a.Old.ResourceVersion
		mended := a.ConfigMap.DeepCopy()
		mended.ResourceVersion = over
		written, err = configMaps.Update(ctx, mended, metav1.UpdateOptions{FieldManager: FieldManager})
	}
	switch {
	case apierrors.IsAlreadyExists(err):
		return c.uncachedEnvironment(ctx, v, a)
	case apierrors.IsConflict(err):
		return fmt.Errorf("writing the ConfigMap of the environment: %w", errStale)
	case err != nil:
		return refusedOr(fmt.Errorf("writing the ConfigMap of the environment: %w", err))
	}
	c.assumedEnvironments.put(keyOf(written), written, over)
	if err := changedByAdmission("ConfigMap", written.Name, cmp.Or(
		changedEntry("data", a.ConfigMap.Data, written.Data),
		changedEntry("metadata.labels", a.ConfigMap.Labels, written.Labels),
		changedEntry("metadata.annotations", a.ConfigMap.Annotations, written.Annotations),
	)); err != nil {
		return err
	}
	v.Environment = written
	if a.Event != nil {
		c.tell(v.Job, *a.Event)
	}
	return nil
}

// uncachedEnvironment tells a ConfigMap of somebody else's from our own that the cache does not have: not yet, or because
// somebody took its label off, and then it is mended.
func (c *Controller) uncachedEnvironment(ctx context.Context, v *view.View, a policy.WriteEnvironment) error {
	found, err := c.clients.Kube.CoreV1().ConfigMaps(v.Job.Namespace).Get(ctx, v.Job.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		return fmt.Errorf("reading the ConfigMap of the job's name: %w", err)
	case !metav1.IsControlledBy(found, v.Job):
		return &refusal{reason: policy.ReasonNameTaken, text: fmt.Sprintf(
			"a ConfigMap named %s exists and does not belong to this job, whose pods wait for one of that name: delete or rename it", found.Name)}
	case found.Labels[keys.JobName] != "" || found.DeletionTimestamp != nil:
		return fmt.Errorf("the ConfigMap of the environment is there already: %w", errStale)
	}
	a.Old, a.Event = found, nil
	return c.writeEnvironment(ctx, v, a)
}
