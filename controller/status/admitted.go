// SPDX-License-Identifier: Apache-2.0

package status

import (
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Reasons of the condition Admitted beside those of Scheduled.
const (
	reasonLetIn    = "LetIn"
	reasonQueueing = "Queueing"
)

// admitted tells whether the queue has let the gang in; what keeps it out is told by Scheduled, in its own words.
func (s *story) admitted(placed bool) {
	switch v := s.v; {
	case v.VolcanoJob == nil:
		s.set(v1.ConditionAdmitted, false, reasonNotCreated, "")
	case s.plan.Retrying != nil || v.VolcanoJob.Status.State.Phase == vcbatch.Restarting:
		s.set(v1.ConditionAdmitted, false, reasonRestarting, "")
	case placed || v.LetIn():
		s.set(v1.ConditionAdmitted, true, reasonLetIn, "")
	default:
		s.set(v1.ConditionAdmitted, false, reasonQueueing, "")
	}
}
