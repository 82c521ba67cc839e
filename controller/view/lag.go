// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// lagMost is how much later than their Volcano Job's the pods' ends may be seen: two watches know nothing of each other.
const lagMost = 5 * time.Second

// Lag is how much longer to wait for the pods' ends after that of their Volcano Job, 0 where they are seen, or somebody
// other than the pods has ended it. What is not seen before the pods are cleaned up will never be known.
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
		if v.Failure != nil && v.Failure.Attempt == job.Status.RetryCount || v.anyFailed() {
			return 0
		}
	default:
		return 0
	}
	return max(lagMost-v.Now.Sub(job.Status.State.LastTransitionTime.Time), 0)
}

func (v *View) anyFailed() bool {
	for _, m := range v.Members() {
		if m.State == Failed {
			return true
		}
	}
	return false
}
