// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// lagMost is how much later than their Volcano Job's the pods' ends may be seen: two watches know nothing of each other.
const lagMost = 5 * time.Second

// Lag is how much longer to wait for the pods' ends after that of their Volcano Job, 0 where they are seen, or somebody
// other than the pods has ended or aborted it. What is not seen before the pods are cleaned up will never be known.
func (v *View) Lag() time.Duration {
	job := v.VolcanoJob
	if job == nil || Finished(v.Job) || job.Status.State.LastTransitionTime.IsZero() {
		return 0
	}
	switch job.Status.State.Phase {
	case vcbatch.Completed:
		if v.Succeeded() {
			return 0
		}
	case vcbatch.Failed, vcbatch.Terminated:
		if v.FailureSeen() {
			return 0
		}
	case vcbatch.Aborting, vcbatch.Aborted:
		if v.Job.Status.Phase == v1.Restarting || v.FailureSeen() || v.Disrupted() {
			return 0
		}
	default:
		return 0
	}
	return max(lagMost-v.Now.Sub(job.Status.State.LastTransitionTime.Time), 0)
}

// FailureSeen reports whether the failure of a pod is known that ended the present attempt. What a program does that was told
// to end is no failure: that is how pods end when somebody aborts the Volcano Job.
func (v *View) FailureSeen() bool {
	if v.Failure != nil && v.Failure.Reason == ReasonPodFailed && !v.Failure.Told && v.Failure.Attempt == v.VolcanoJob.Status.RetryCount {
		return true
	}
	return slices.ContainsFunc(v.Members(), (*Member).FailedItself)
}

// Resumed says whether pods of a later attempt are seen than the Volcano Job's: it has started again, and is seen late.
func (v *View) Resumed() bool {
	return slices.ContainsFunc(v.Pods, func(pod *corev1.Pod) bool {
		attempt, ok := Attempt(pod)
		return ok && attempt > v.VolcanoJob.Status.RetryCount
	})
}
