// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// missedGrace is how long Volcano may take to act on a failure. It acts when it sees a pod fail and never again, so a
// Volcano that was restarted just then would let the others wait for ever. It is long, because a second restart would be
// one too many.
const missedGrace = 30 * time.Second

// missed tells Volcano of a failure that it has missed.
func (p *Plan) missed(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || v.Succeeded() || view.RestartsPods(v.VolcanoJob) && !serverFailed(v) {
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
	p.command(v, vcbus.AbortJobAction, "", "PodFailed", "a pod failed a while ago")
}

// serverFailed reports whether a pod has failed that is not started again alone.
func serverFailed(v *view.View) bool {
	return slices.ContainsFunc(v.Members(), func(m *view.Member) bool { return m.State == view.Failed && m.Role != render.RoleWorker })
}
