// SPDX-License-Identifier: Apache-2.0

package policy

import (
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// stop sees to it that nothing of a finished job runs, and says whether something may: the controller fails some jobs that
// Volcano would let go on, and somebody may resume the Volcano Job of one. Volcano takes the command in these phases only;
// in the others it is on its way to one of them, or to the end. One that Volcano has forgotten makes no pods again.
func (p *Plan) stop(v *view.View) bool {
	if v.VolcanoJob == nil || v.VolcanoJob.DeletionTimestamp != nil {
		return false
	}
	if v.Unheeded >= forgottenGrace {
		for _, pod := range unended(v) {
			p.remove(KindPod, pod)
		}
		return false
	}
	switch v.VolcanoJob.Status.State.Phase {
	case vcbatch.Completed, vcbatch.Failed, vcbatch.Terminated, vcbatch.Aborted:
		return false
	case "", vcbatch.Pending, vcbatch.Running:
		p.command(v, vcbus.TerminateJobAction, "", "JobEnded", "the PaddleJob has ended")
	default:
		p.stuck(v)
	}
	return true
}
