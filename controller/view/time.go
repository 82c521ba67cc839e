// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Active is how long the job has been active: since its creation, or since its last resumption if it was suspended, as a
// Job of batch/v1. A suspended job is not active.
func (v *View) Active() time.Duration {
	since := v.Job.CreationTimestamp.Time
	if c := meta.FindStatusCondition(v.Job.Status.Conditions, v1.ConditionSuspended); c != nil {
		if c.Status == metav1.ConditionTrue {
			return 0
		}
		since = c.LastTransitionTime.Time
	}
	return v.Now.Sub(since)
}
