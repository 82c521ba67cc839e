// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// notePodGroup writes on the Volcano Job which PodGroup of the user's was taken into account, and tells it once.
func (c *Controller) notePodGroup(ctx context.Context, obs *observed.State, a lifecycle.NotePodGroup) error {
	note := map[string]string{v1.UserPodGroupAnnotation: string(a.PodGroup.UID)}
	patch, err := metadata(obs.VolcanoJob, note, nil)
	if err != nil {
		return fmt.Errorf("noting the user's PodGroup: %w", err)
	}
	noted, err := c.patchVolcanoJob(ctx, obs.VolcanoJob, patch, "noting the user's PodGroup")
	if err != nil {
		return err
	}
	if err := changedByAdmission("Volcano Job", noted.Name, changedEntry("metadata.annotations", note, noted.Annotations)); err != nil {
		return err
	}
	obs.VolcanoJob = noted
	c.recordEvent(obs.Job, a.Event)
	return nil
}

// applyPodGroup makes or repairs the PodGroup, whichever of the two controllers came first.
func (c *Controller) applyPodGroup(ctx context.Context, obs *observed.State, a lifecycle.ApplyPodGroup) error {
	if obs.Attempt() != observed.AttemptNew {
		// A cached Volcano Job may have ended since; a PodGroup made now would hold room in the queue.
		fresh, err := c.clients.Volcano.BatchV1alpha1().Jobs(obs.VolcanoJob.Namespace).Get(ctx, obs.VolcanoJob.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("reading the Volcano Job before its PodGroup is made: %w", ignoreNotFound(err))
		}
		if fresh.UID != obs.VolcanoJob.UID || fresh.DeletionTimestamp != nil || !observed.AttemptOf(fresh).Active() {
			return nil
		}
	}
	if obs.PodGroup == nil {
		return c.createPodGroup(ctx, obs, a.PodGroup)
	}
	owned := lifecycle.PodGroupOwned(a.PodGroup)
	if metadata, ok := owned["metadata"].(map[string]any); ok {
		metadata["uid"] = obs.PodGroup.UID // an apply without it would create a PodGroup of these fields alone
	}
	body, err := json.Marshal(owned)
	if err != nil {
		return fmt.Errorf("encoding the PodGroup: %w", err)
	}
	applied, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(a.PodGroup.Namespace).Patch(ctx, a.PodGroup.Name,
		types.ApplyPatchType, body, metav1.PatchOptions{FieldManager: FieldManager, Force: ptr.To(true)})
	if err != nil {
		return writeError(err, "applying the PodGroup")
	}
	c.mutatedPodGroups.put(keyOf(applied), applied, obs.PodGroup.ResourceVersion)
	obs.PodGroup = applied
	return nil
}

// createPodGroup creates the whole PodGroup, as Volcano's Job controller would, unless that was first.
func (c *Controller) createPodGroup(ctx context.Context, obs *observed.State, group *vcscheduling.PodGroup) error {
	created, err := c.clients.Volcano.SchedulingV1beta1().PodGroups(group.Namespace).Create(ctx, group, metav1.CreateOptions{FieldManager: FieldManager})
	if apierrors.IsAlreadyExists(err) {
		return nil // the watch brings it
	}
	if err != nil {
		return rejectionOr(fmt.Errorf("creating the PodGroup: %w", err))
	}
	c.mutatedPodGroups.put(keyOf(created), created, "")
	obs.PodGroup = created
	return nil
}
