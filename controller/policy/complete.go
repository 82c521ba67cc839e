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
	// CompleteGrace is how long one may take that has counted the workers at once.
	CompleteGrace = 30 * time.Second
	// behindGrace is how long one may take that counts late, or has not counted yet.
	behindGrace = 5 * time.Minute
)

// completeIn is how much longer Volcano may take to end a job whose workers have succeeded: to go on it may take as much
// longer than CompleteGrace as it took to count.
func completeIn(v *view.View) time.Duration {
	left := behindGrace - v.SucceededFor
	if v.CountedFor > 0 {
		late := v.SucceededFor - v.CountedFor
		left = min(left, CompleteGrace+late-v.CountedFor)
	}
	return left
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
