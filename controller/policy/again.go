// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// again starts a job over that Volcano has failed for good although it was to be started again. The restart is in the
// status before the Volcano Job goes, because the next one is told from there how many there have been.
func (p *Plan) again(v *view.View) {
	p.retrying()
	if view.Delayed(v.VolcanoJob) && p.delay(v) {
		return
	}
	p.Again = true
	if v.Job.Status.Restarts <= view.Failures(v.VolcanoJob) {
		return
	}
	if v.Environment != nil {
		p.remove(KindConfigMap, v.Environment)
	}
	p.remove(KindVolcanoJob, v.VolcanoJob)
}
