// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Reject returns why no node is feasible for a task by the plan of its job, and that plan if it has no nodes for the task. The
// plan is made again if it is outdated. The error is nil if the plan has a node for the task, or if only predicates can decide.
func (p *Planner) Reject(task *api.TaskInfo) (rejecting *Plan, err error) {
	work := p.scopeOf(task).work()
	if p.Guard.BackedOff(work) != nil {
		return nil, nil
	}
	_ = p.Run(work, func() error { // it is logged and counted
		rejecting, err = p.reject(task)
		return nil
	})
	return rejecting, err
}

func (p *Planner) reject(task *api.TaskInfo) (*Plan, error) {
	plan := p.Plan(p.scopeOf(task))
	if plan.Found() && !p.stillValid(plan, task) {
		plan = p.replan(plan)
	}
	switch {
	case errors.Is(plan.Err, ErrInfeasible), errors.Is(plan.Err, ErrInvalidConstraint):
		return plan, plan.Err
	case plan.Found() && p.noCapacityForSurplus(plan, task):
		return nil, ErrInfeasible
	}
	return nil, nil
}

func (p *Planner) scopeOf(task *api.TaskInfo) Scope { return ScopeOf(p.Session.Jobs[task.Job], task) }

func (p *Planner) planned(task *api.TaskInfo) (*Plan, bool) { return p.Planned(p.scopeOf(task)) }

// NodeFor returns the node that the plan of a task's job has for the task.
func (p *Planner) NodeFor(task *api.TaskInfo) (string, bool) {
	if plan, ok := p.planned(task); ok && plan.Found() {
		if id, ok := plan.nodes[task.UID]; ok {
			return p.Cache.Topology().NodeName(id), true
		}
	}
	return "", false
}

// stillValid reports whether the node that a plan has for a task still has capacity for it, or whether the plan has left the
// task out.
func (p *Planner) stillValid(plan *Plan, task *api.TaskInfo) bool {
	if plan.stale {
		return false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		_, nominated := plan.nominated[task.UID]
		return nominated || plan.roleOf(task) >= 0
	}
	node := p.Session.Nodes[p.Cache.Topology().NodeName(id)]
	return node != nil && task.InitResreq.LessEqual(node.FutureIdle(), api.Zero) &&
		(plan.future || task.InitResreq.LessEqual(node.Idle, api.Zero))
}

// roleOf returns the role in which a plan was made for a pending task, -1 if it was made without the task.
func (p *Plan) roleOf(task *api.TaskInfo) int {
	return slices.IndexFunc(p.demand.pending, func(pending []*api.TaskInfo) bool {
		return slices.ContainsFunc(pending, func(other *api.TaskInfo) bool { return other.UID == task.UID })
	})
}

// OnNominationAccepted records that a task was placed on its nominated node.
func (p *Planner) OnNominationAccepted(task *api.TaskInfo) {
	metrics.CountHint(metrics.HintTaken)
	if plan, ok := p.planned(task); ok {
		plan.replans = 0
	}
}

// OnNominationRejected records that a task was not placed on its nominated node.
func (p *Planner) OnNominationRejected(task *api.TaskInfo, node string) {
	metrics.CountHint(metrics.HintRefused)
	if plan, ok := p.planned(task); ok {
		plan.stale = true
	}
	if id, ok := p.Cache.Node(node); ok && p.feasibility != nil {
		p.feasibility.Reject(task, id)
	}
}

// ReplanAfterRejection plans the rest of a gang again after the nominated node of a task was rejected, and returns the new node
// of the task.
func (p *Planner) ReplanAfterRejection(task *api.TaskInfo) (string, bool) {
	p.replan(p.Plan(p.scopeOf(task)))
	return p.NodeFor(task)
}

// noCapacityForSurplus reports whether a pod beyond its role's minimum, for which a plan has no node, fits nowhere.
func (p *Planner) noCapacityForSurplus(plan *Plan, task *api.TaskInfo) bool {
	if _, ok := plan.nodes[task.UID]; ok || !plan.demand.exact {
		return false
	}
	r := plan.roleOf(task)
	if r < 0 {
		return false
	}
	t := p.Cache.Topology()
	possible, _ := plan.roles[r].Possible()
	return t.ShapeOn(p.Request(task), p.allowed(plan, possible)).Sum(t.Root()) == 0
}

// validNominations returns the valid nominations (status.nominatedNodeName) of a plan's pending pods. Volcano also writes them
// for preemptions that it discarded, and removes none. So a nomination is valid only if the node is feasible for the pod and in the
// domain of the job. The pod must also fit into what is or will be idle on the node, together with the pods before it.
func (p *Planner) validNominations(plan *Plan, t *placement.Topology) map[api.TaskID]placement.NodeID {
	var valid map[api.TaskID]placement.NodeID
	domain := p.memberDomain(plan.Scope, plan.demand.HighestTier)
	left := map[placement.NodeID]*api.Resource{}
	for _, pending := range plan.demand.pending {
		for _, task := range pending {
			id, known := p.Cache.Node(task.Pod.Status.NominatedNodeName)
			if !known || !contains(t, domain, id) || !contains(t, plan.domain, id) {
				continue
			}
			if left[id] == nil {
				left[id] = p.Session.Nodes[t.NodeName(id)].FutureIdle()
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
