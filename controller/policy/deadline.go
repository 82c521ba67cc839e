// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// overdue fails a job that takes longer than it may. One whose end is certain is let end.
func (p *Plan) overdue(v *view.View) bool {
	run := v.Job.Spec.RunPolicy
	if run == nil || run.ActiveDeadlineSeconds == nil || endCertain(v) {
		return false
	}
	if left := time.Duration(*run.ActiveDeadlineSeconds)*time.Second - v.Active(); left > 0 {
		p.lookAgainIn(left)
		return false
	}
	p.Failed = &render.Notice{Reason: ReasonDeadlineExceeded, Message: fmt.Sprintf(
		"the job took longer than spec.runPolicy.activeDeadlineSeconds, %d s", *run.ActiveDeadlineSeconds)}
	return true
}

// endCertain says whether the job is about to end by itself.
func endCertain(v *view.View) bool {
	return v.Succeeded() || v.Ended()
}
