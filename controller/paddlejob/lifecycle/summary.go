// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// explaining are the conditions that can explain why a job is not ready, the first one first, each with the status in which it
// does.
var explaining = []struct {
	kind   string
	status metav1.ConditionStatus
}{
	{v1.ConditionFailed, metav1.ConditionTrue},
	{v1.ConditionStalled, metav1.ConditionTrue},
	{v1.ConditionSuspended, metav1.ConditionTrue},
	{v1.ConditionCreated, metav1.ConditionFalse},
	{v1.ConditionAdmitted, metav1.ConditionFalse},
	{v1.ConditionScheduled, metav1.ConditionFalse},
	{v1.ConditionRestarting, metav1.ConditionTrue},
	{v1.ConditionRunning, metav1.ConditionFalse},
}

// ready sets the summary of the other conditions.
func (s *conditionSetter) ready() {
	for _, kind := range []string{v1.ConditionSucceeded, v1.ConditionRunning} {
		if c := meta.FindStatusCondition(s.next.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue && !s.has(v1.ConditionFailed) {
			s.set(v1.ConditionReady, true, c.Reason, c.Message)
			return
		}
	}
	for _, e := range explaining {
		if c := meta.FindStatusCondition(s.next.Conditions, e.kind); c != nil && c.Status == e.status {
			s.set(v1.ConditionReady, false, c.Reason, c.Message)
			return
		}
	}
}
