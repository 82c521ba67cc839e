// SPDX-License-Identifier: Apache-2.0

package policy

import (
	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// cleanUp deletes what a finished job must not keep; nothing is ever made for it again.
func (p *Plan) cleanUp(v *view.View) {
	if p.stop(v) {
		return
	}
	if v.PodGroup != nil {
		p.remove(KindPodGroup, v.PodGroup)
	}
	if v.Operator.PodGroup != nil {
		p.remove(KindPodGroup, v.Operator.PodGroup)
	}
	all := cleansPods(v.Job.Spec.CleanPodPolicy, v.Job.Status.Phase)
	for _, pod := range v.Pods {
		if all {
			p.remove(KindPod, pod)
		}
	}
	// Volcano stops the servers of its own Jobs; those that paddle-operator made would run for ever.
	for _, pod := range v.Operator.Pods {
		if state := view.NewMember(pod).State; all || (state != view.Succeeded && state != view.Failed) {
			p.remove(KindPod, pod)
		}
	}
	for _, service := range v.Operator.Services {
		p.remove(KindService, service)
	}
	if v.VolcanoJob != nil && specChanged(v) {
		p.Unapplied = &render.Notice{Reason: ReasonSpecChangeNotApplied,
			Message: "the job has ended, and a changed spec does not start it again: create a new PaddleJob"}
	}
}

// cleansPods is paddle-operator's table: after success on Always, OnCompletion and nothing, after failure on Always and
// OnFailure, and never on anything else.
func cleansPods(policy v1.CleanPodPolicy, phase v1.Phase) bool {
	switch policy {
	case v1.CleanAlways:
		return true
	case v1.CleanOnFailure:
		return phase == v1.Failed
	case v1.CleanOnCompletion, "":
		return phase == v1.Completed
	}
	return false
}
