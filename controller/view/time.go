// SPDX-License-Identifier: Apache-2.0

package view

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Active is how long the job has taken since it first started, restarts included and suspensions left out; false if it
// has not started.
func (v *View) Active() (time.Duration, bool) {
	status := &v.Job.Status
	if status.StartTime == nil {
		return 0, false
	}
	suspended := time.Duration(status.SuspendedSeconds) * time.Second
	if c := meta.FindStatusCondition(status.Conditions, v1.ConditionSuspended); c != nil && c.Status == metav1.ConditionTrue {
		suspended += SuspendedFor(c, v.Now)
	}
	return v.Now.Sub(status.StartTime.Time) - suspended, true
}

// SuspendedFor is how long the condition Suspended has been True.
func SuspendedFor(c *metav1.Condition, now time.Time) time.Duration {
	return max(now.Sub(c.LastTransitionTime.Time), 0).Truncate(time.Second)
}
