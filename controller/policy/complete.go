// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// CompleteGrace is how long Volcano may take to end a job whose workers have succeeded. It decides that when the last of
// them ends and never again, so a Volcano that was restarted just then would let the servers run for ever. It is long,
// because a Volcano with much to do must not be given more.
const CompleteGrace = time.Minute

// complete tells Volcano to end a job whose workers have succeeded. Of an elastic job of which fewer workers ran than it
// may have, Volcano would wait for the others for ever, so there is nothing to wait for.
func (p *Plan) complete(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || !v.Succeeded() {
		return
	}
	if left := CompleteGrace - v.SucceededFor; left > 0 && v.AllSucceeded() {
		p.lookAgainIn(left)
		return
	}
	p.command(v, vcbus.CompleteJobAction, "", "WorkersSucceeded", "every worker has succeeded")
}
