// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"k8s.io/utils/ptr"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// suspended says whether the user wants nothing of the job to run. A job whose end is certain is let end.
func suspended(v *view.View) bool {
	if run := v.Job.Spec.RunPolicy; run == nil || !ptr.Deref(run.Suspend, false) {
		return false
	}
	return !endCertain(v)
}

// suspend deletes everything that runs or holds room in a queue. The Volcano Job goes too: an aborted one would keep the
// spec of before, and Volcano counts its resumption as a failure.
func (p *Plan) suspend(v *view.View) {
	if v.VolcanoJob != nil && !counted(v) {
		p.Recreate = true // and nothing else: whoever reads Suspended may resume the job with another spec
		if v.Unretried() || v.Job.Status.Phase == v1.Restarting {
			p.retrying() // the phase of the Volcano Job, Failed or Aborted, is not the job's
		}
		return
	}
	p.Suspended = &render.Notice{Reason: ReasonSuspended,
		Message: "nothing of the job runs; it starts when spec.runPolicy.suspend is false"}
	if v.VolcanoJob != nil || !v.Operator.Empty() || len(v.Predecessors) > 0 {
		p.Suspended = &render.Notice{Reason: ReasonSuspending, Message: "the pods are being deleted"}
	}
	if !v.Operator.Empty() {
		p.deleteOperators(v)
	}
	if v.Environment != nil {
		p.remove(KindConfigMap, v.Environment)
	}
	if v.VolcanoJob != nil {
		p.recreate(v)
	}
}
