// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// nominations returns the valid nominations (status.nominatedNodeName) of a plan's pending pods. Volcano also writes them for
// preemptions that it discarded, and removes none. So a nomination is valid only if the pod fits into what is or will be idle
// on the node, together with the pods before it, if the node is feasible for the pod, and if it is in the domain of the job.
func (c *course) nominations(p *plan, t *placement.Topology) map[api.TaskID]placement.NodeID {
	var hold map[api.TaskID]placement.NodeID
	domain := c.memberDomain(p.scope, p.cast.demand.HighestTier)
	left := map[placement.NodeID]*api.Resource{}
	for _, pending := range p.cast.pending {
		for _, task := range pending {
			id, known := c.network.Node(task.Pod.Status.NominatedNodeName)
			if !known || !inside(t, domain, id) || !inside(t, p.domain, id) {
				continue
			}
			if left[id] == nil {
				left[id] = c.ssn.Nodes[t.NodeName(id)].FutureIdle()
			}
			if task.InitResreq.LessEqual(left[id], api.Zero) && c.feasibleNow(task, id) {
				left[id].Sub(task.Resreq)
				if hold == nil {
					hold = map[api.TaskID]placement.NodeID{}
				}
				hold[task.UID] = id
			}
		}
	}
	return hold
}

// feasibleNow reports whether a node is feasible for a pending pod.
func (c *course) feasibleNow(task *api.TaskInfo, node placement.NodeID) bool {
	c.asking = true
	defer func() { c.asking = false }()
	ok, err := c.feasibility.Feasible(task, node)
	return ok && err == nil
}

// inside reports whether a node is in a domain; every node is in placement.NoDomain.
func inside(t *placement.Topology, domain placement.DomainID, node placement.NodeID) bool {
	return domain == placement.NoDomain || t.Holds(domain, node)
}

// ignoresNomination reports whether a pod has a nomination that its job's plan does not honor.
func (c *course) ignoresNomination(task *api.TaskInfo) bool {
	if task.Pod.Status.NominatedNodeName == "" {
		return false
	}
	plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).ID()]
	if !ok || plan.cast == nil {
		return false
	}
	_, honored := plan.nominated[task.UID]
	return !honored
}
