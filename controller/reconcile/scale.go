// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// scaleVolcanoJob changes the numbers of pods of the very Volcano Job that was seen.
func (c *Controller) scaleVolcanoJob(ctx context.Context, v *view.View, a policy.ScaleVolcanoJob) error {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": v.VolcanoJob.UID, "resourceVersion": v.VolcanoJob.ResourceVersion},
		"spec":     map[string]any{"minAvailable": a.Job.Spec.MinAvailable, "tasks": a.Job.Spec.Tasks},
	})
	if err != nil {
		return fmt.Errorf("scaling the Volcano Job: %w", err)
	}
	scaled, err := c.clients.Volcano.BatchV1alpha1().Jobs(a.Job.Namespace).Patch(ctx, a.Job.Name,
		types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager})
	switch {
	case apierrors.IsConflict(err):
		return fmt.Errorf("scaling the Volcano Job: %w", errStale)
	case err != nil:
		return refusedOr(fmt.Errorf("scaling the Volcano Job: %w", err))
	}
	klog.FromContext(ctx).Info("Scaled the Volcano Job", "minAvailable", scaled.Spec.MinAvailable)
	c.assumedVolcanoJobs.put(keyOf(scaled), scaled, v.VolcanoJob.ResourceVersion)
	if !policy.SameSize(a.Job, scaled) {
		return changedByAdmission("Volcano Job", scaled.Name, "spec.tasks[*].replicas or minAvailable")
	}
	if a.Held != nil {
		c.refusals.hold(string(scaled.UID), *a.Held, v.Now)
	}
	v.VolcanoJob = scaled
	return nil
}
