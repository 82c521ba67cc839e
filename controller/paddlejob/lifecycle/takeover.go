// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// legacyPodsHealthy reports whether a job that paddle-operator started can finish by itself: its workers have succeeded,
// or every pod is there and well and all of them know each other's addresses.
func legacyPodsHealthy(obs *observed.State) bool {
	if obs.VolcanoJob != nil || len(obs.Operator.Pods) == 0 {
		return false
	}
	if obs.Succeeded() {
		return true
	}
	if obs.Operator.Environment == nil {
		return false
	}
	well := map[string]int{}
	for _, m := range obs.RolePods() {
		if m.State == observed.Failed || m.State == observed.Terminating {
			return false
		}
		well[m.Role]++
	}
	for _, role := range observed.Roles {
		if spec := observed.Spec(obs.Job, role); spec != nil && well[role] < int(spec.Replicas) {
			return false
		}
	}
	return true
}

// replaceLegacyPods deletes what paddle-operator made for a gang that cannot finish, so that it starts again under Volcano.
func (p *Plan) replaceLegacyPods(obs *observed.State) {
	p.Waiting = &builder.Cause{Reason: ReasonTakingOver,
		Message: "what paddle-operator made for this job cannot finish and is being deleted; the job then starts anew under Volcano"}
	p.deleteLegacyResources(obs)
}

// deleteLegacyResources deletes all that paddle-operator made for the job.
func (p *Plan) deleteLegacyResources(obs *observed.State) {
	for _, pod := range obs.Operator.Pods {
		p.remove(KindPod, pod)
	}
	for _, service := range obs.Operator.Services {
		p.remove(KindService, service)
	}
	if obs.Operator.Environment != nil {
		p.remove(KindConfigMap, obs.Operator.Environment)
	}
	if obs.Operator.PodGroup != nil {
		p.remove(KindPodGroup, obs.Operator.PodGroup)
	}
	// Services and ConfigMaps of paddle-operator's are not watched.
	p.requeueAfter(pollInterval)
}
