// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// missedGrace is how long Volcano may take to act on a failure. It acts when it sees a pod fail and never again, so a
// Volcano that was restarted just then would let the others wait for ever. It is long, because a second restart would be
// one too many.
const missedGrace = 30 * time.Second

// missed tells Volcano of a failure that it has missed.
func (p *Plan) missed(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || v.Succeeded() {
		return
	}
	failed, ok := v.FirstFailure()
	if !ok {
		return
	}
	if left := missedGrace - v.Now.Sub(failed); left > 0 {
		p.lookAgainIn(left)
		return
	}
	action := vcbus.RestartJobAction
	if view.Delayed(v.VolcanoJob) {
		action = vcbus.AbortJobAction
	}
	p.command(v, action, "", "PodFailed", "a pod failed a while ago")
}
