// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// How long Volcano may take to make the pods of a gang that was let in, and how much later it is told again. It makes them
// when it sees the PodGroup's phase change, and never again: where its watch was broken just then, it sees a PodGroup that
// has always been let in. Both are long, because a Volcano with much to do must not be given more.
const (
	unmadeGrace  = 2 * time.Minute
	unmadePeriod = 10 * time.Minute
)

// unmade has Volcano look at a job whose pods it has not made.
func (p *Plan) unmade(v *view.View) {
	if v.UnmadeSince.IsZero() {
		return
	}
	waited := v.Now.Sub(v.UnmadeSince)
	if v.VolcanoJob.Status.State.Phase == "" {
		if waited < forgottenGrace {
			p.lookAgainIn(forgottenGrace - waited)
			return
		}
		p.startOver(v, "Volcano has not looked at its Volcano Job, which is deleted and made anew")
		return
	}
	if waited < unmadeGrace {
		p.lookAgainIn(unmadeGrace - waited)
		return
	}
	last := max(waited.Truncate(unmadePeriod), unmadeGrace)
	if waited-last < CommandPeriod {
		p.command(v, vcbus.SyncJobAction, "", "PodsMissing", "the queue has let the job in a while ago, and it has no pods yet")
		return
	}
	p.lookAgainIn(waited.Truncate(unmadePeriod) + unmadePeriod - waited)
}
