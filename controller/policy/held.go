// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// heldFor is how long an elastic job is kept at the workers that it has before more are asked for again.
const heldFor = 5 * time.Minute

// held is an elastic job with no more workers than the API server lets it have, and what is news of that, nil if nothing is.
// Volcano tries to make a pod that is refused for under three minutes, and then gives up the whole job, with the workers that
// train (its controller's --max-requeue-num).
func (p *Plan) held(v *view.View) (job *v1.PaddleJob, news *view.Held) {
	held := v.Held
	if !v.ShortSince.IsZero() {
		p.lookAgainIn(unwatched)
		made := int32(0)
		for _, m := range v.Members() {
			if m.Role == render.RoleWorker {
				made++
			}
		}
		if _, least := v.Size(render.RoleWorker); v.Refused != "" && made >= least {
			news = &view.Held{Workers: made, Refused: v.Refused, Left: heldFor}
			held = news
		}
	}
	if held == nil || v.Job.Spec.Worker.Replicas <= int(held.Workers) {
		return v.Job, nil
	}
	p.lookAgainIn(held.Left)
	p.Unapplied = &render.Notice{Reason: RefusalReason(held.Refused), Message: fmt.Sprintf(
		"spec.worker.replicas is %d, and the API server lets the job have %d workers, with which it goes on; more are asked for again every %.0f minutes: %s",
		v.Job.Spec.Worker.Replicas, held.Workers, heldFor.Minutes(), held.Refused)}
	job = v.Job.DeepCopy()
	job.Spec.Worker.Replicas = int(held.Workers)
	return job, news
}
