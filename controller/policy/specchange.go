// SPDX-License-Identifier: Apache-2.0

package policy

import (
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// specChanged says whether the Volcano Job was made from another spec than the PaddleJob has now.
func specChanged(v *view.View) bool {
	return !render.SameSpec(v.VolcanoJob.Annotations[keys.SpecHash], v.Job)
}

// replace heeds a changed spec and says whether the Volcano Job goes. Volcano refuses nearly every change of a Job, so
// the change means a new one while nothing has begun, and cannot be made after that.
func (p *Plan) replace(v *view.View, cfg render.Config) bool {
	if v.Ended() || !specChanged(v) {
		return false
	}
	if refused := render.Validate(v.Job, wishOf(v), cfg); len(refused) > 0 {
		notice := joined(ReasonSpecChangeRefused, refused)
		notice.Message = "the job goes on with the spec it was created with, because the changed one cannot run: " + notice.Message
		p.Unapplied = notice
		return false
	}
	if begun(v) {
		p.Unapplied = &render.Notice{Reason: ReasonSpecChangeNotApplied, Message: "the spec was changed after pods were " +
			"placed, so the job goes on with the spec it was created with: delete the PaddleJob and create it again to use the new one"}
		return false
	}
	p.startOver(v, "the spec was changed before the job began, so its Volcano Job is deleted and made anew")
	return true
}

// startOver deletes a Volcano Job that has not begun.
func (p *Plan) startOver(v *view.View, why string) {
	p.Waiting = &render.Notice{Reason: ReasonReplacing, Message: why}
	if v.Environment != nil {
		p.remove(KindConfigMap, v.Environment)
	}
	p.recreate(v)
}

// begun says whether something would be lost if the gang started over: a placed pod may run as soon as it has the
// addresses of the others.
func begun(v *view.View) bool {
	if v.VolcanoJob.Status.State.Phase == vcbatch.Restarting && !view.RestartsPods(v.VolcanoJob) {
		return false
	}
	for _, m := range v.Members() {
		if m.Begun() || (m.State == view.Starting && v.Environment != nil) {
			return true
		}
	}
	return false
}
