// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// validNominations returns the valid nominations (status.nominatedNodeName) of a plan's pending pods. Volcano also writes them
// for preemptions that it discarded, and removes none. So a nomination is valid only if the pod fits into what is or will be
// idle on the node, together with the pods before it, if the node is feasible for the pod, and if it is in the domain of the
// job.
func (p *Planner) validNominations(plan *Plan, t *placement.Topology) map[api.TaskID]placement.NodeID {
	var valid map[api.TaskID]placement.NodeID
	domain := p.memberDomain(plan.Scope, plan.demand.HighestTier)
	left := map[placement.NodeID]*api.Resource{}
	for _, pending := range plan.demand.pending {
		for _, task := range pending {
			id, known := p.cache.Node(task.Pod.Status.NominatedNodeName)
			if !known || !contains(t, domain, id) || !contains(t, plan.domain, id) {
				continue
			}
			if left[id] == nil {
				left[id] = p.ssn.Nodes[t.NodeName(id)].FutureIdle()
			}
			if task.InitResreq.LessEqual(left[id], api.Zero) && p.feasibleNow(task, id) {
				left[id].Sub(task.Resreq)
				if valid == nil {
					valid = map[api.TaskID]placement.NodeID{}
				}
				valid[task.UID] = id
			}
		}
	}
	return valid
}

// feasibleNow reports whether a node is feasible for a pending pod.
func (p *Planner) feasibleNow(task *api.TaskInfo, node placement.NodeID) (feasible bool) {
	p.CallPredicates(func() {
		ok, err := p.feasibility.Feasible(task, node)
		feasible = ok && err == nil
	})
	return feasible
}

// IgnoresNomination reports whether a pod has a nomination that its job's plan does not honor.
func (p *Planner) IgnoresNomination(task *api.TaskInfo) bool {
	if task.Pod.Status.NominatedNodeName == "" {
		return false
	}
	plan, ok := p.planned(task)
	if !ok || plan.demand == nil {
		return false
	}
	_, honored := plan.nominated[task.UID]
	return !honored
}
