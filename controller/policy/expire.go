// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"time"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// expire deletes a finished PaddleJob whose time is over, and says whether it did; all that was made for it goes with it.
func (p *Plan) expire(v *view.View) bool {
	run, end := v.Job.Spec.RunPolicy, v.Job.Status.CompletionTime
	if run == nil || run.TTLSecondsAfterFinished == nil || end == nil {
		return false
	}
	if left := end.Add(time.Duration(*run.TTLSecondsAfterFinished) * time.Second).Sub(v.Now); left > 0 {
		p.lookAgainIn(left)
		return false
	}
	p.remove(KindPaddleJob, v.Job)
	return true
}
