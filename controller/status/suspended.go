// SPDX-License-Identifier: Apache-2.0

package status

import (
	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
)

// reasonResumed is that of a job that was suspended once.
const reasonResumed = "Resumed"

// eventOfSuspension is the text of the event by its reason.
var eventOfSuspension = map[string]string{
	policy.ReasonSuspended: "nothing of the job runs any more; its resources and the room in the queue are free",
	reasonResumed:          "the job starts anew",
}

// suspended tells of a job of which nothing is to run. It is suspended from when that was decided, because from then on
// it does not train; the reason says whether its resources are free.
func (s *story) suspended() {
	why := s.plan.Suspended
	s.set(v1.ConditionSuspended, true, why.Reason, why.Message)
	s.set(v1.ConditionStalled, false, reasonProceeding, "")
	for _, kind := range []string{v1.ConditionCreated, v1.ConditionAdmitted, v1.ConditionScheduled, v1.ConditionRunning} {
		s.set(kind, false, policy.ReasonSuspended, "")
	}
	if s.has(v1.ConditionRestarting) {
		s.set(v1.ConditionRestarting, false, policy.ReasonSuspended, "")
	}
}

// resumed notes the end of a suspension and its reason. The job's deadline counts from this transition.
func (s *story) resumed(reason string) {
	if s.has(v1.ConditionSuspended) {
		s.set(v1.ConditionSuspended, false, reason, "")
	}
}
