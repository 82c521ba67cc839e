// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// operatorGangStands says whether a job that paddle-operator started can finish by itself: its workers have succeeded,
// or every pod is there and well and all of them know each other's addresses.
func operatorGangStands(v *view.View) bool {
	if v.VolcanoJob != nil || len(v.Operator.Pods) == 0 {
		return false
	}
	if v.Succeeded() {
		return true
	}
	if v.Operator.Environment == nil {
		return false
	}
	well := map[string]int{}
	for _, m := range v.Members() {
		if m.State == view.Failed || m.State == view.Leaving {
			return false
		}
		well[m.Role]++
	}
	for _, role := range view.Roles {
		if spec := view.Spec(v.Job, role); spec != nil && well[role] < spec.Replicas {
			return false
		}
	}
	return true
}

// clearOperator deletes what paddle-operator made for a gang that cannot finish, so that it starts anew under Volcano.
func (p *Plan) clearOperator(v *view.View) {
	p.Waiting = &render.Notice{Reason: ReasonTakingOver,
		Message: "what paddle-operator made for this job cannot finish and is being deleted; the job then starts anew under Volcano"}
	p.deleteOperators(v)
}

// deleteOperators deletes all that paddle-operator made for the job.
func (p *Plan) deleteOperators(v *view.View) {
	for _, pod := range v.Operator.Pods {
		p.remove(KindPod, pod)
	}
	for _, service := range v.Operator.Services {
		p.remove(KindService, service)
	}
	if v.Operator.Environment != nil {
		p.remove(KindConfigMap, v.Operator.Environment)
	}
	if v.Operator.PodGroup != nil {
		p.remove(KindPodGroup, v.Operator.PodGroup)
	}
	// Services and ConfigMaps of paddle-operator's are not watched.
	p.lookAgainIn(unwatched)
}
