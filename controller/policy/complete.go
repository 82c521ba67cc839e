// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Volcano ends a job when it sees the last of its workers succeed, and never again, so a Volcano that was restarted just then
// would let the servers run for ever. One that only has much to do must not be given more.
const (
	// CompleteGrace is how long Volcano may end no job at all, or by how much it may take jobs out of their turn, where it is
	// quick elsewhere; where it lately took longer to end a job, by so much more.
	CompleteGrace = 30 * time.Second
	// completeMost is how long a job may have to wait at most.
	completeMost = 15 * time.Minute
)

// completeIn is how much longer Volcano may take to end a job whose workers have succeeded. It ends one after the other, about
// in the order in which their workers ended: it has forgotten a job if it ends none any more, or those that were to come later.
func completeIn(v *view.View) time.Duration {
	ended := v.Now.Add(-v.SucceededFor)
	patience := CompleteGrace + v.Ends.Slowest
	if v.Ends.Newest.Sub(ended) >= patience {
		return 0
	}
	idle := min(v.SucceededFor, v.Now.Sub(v.Ends.Last))
	return min(patience-idle, completeMost-v.SucceededFor)
}

// complete tells Volcano to end a job whose workers have succeeded. Of an elastic job of which fewer workers ran than it
// may have, Volcano would wait for the others for ever, so there is nothing to wait for.
func (p *Plan) complete(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || !v.Succeeded() {
		return
	}
	if left := completeIn(v); left > 0 && v.AllSucceeded() {
		p.lookAgainIn(left)
		return
	}
	p.command(v, vcbus.CompleteJobAction, "", "WorkersSucceeded", "every worker has succeeded")
}
