// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// Reject returns why no node is feasible for a task by the plan of its job, and that plan if it has no nodes for the task. The
// plan is made again if it is outdated. The error is nil if the plan has a node for the task, or if only predicates can decide.
func (p *Planner) Reject(task *api.TaskInfo) (rejecting *Plan, err error) {
	work := p.scopeOf(task).work()
	if p.guard.BackedOff(work) != nil {
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

func (p *Planner) scopeOf(task *api.TaskInfo) Scope { return ScopeOf(p.ssn.Jobs[task.Job], task) }

// planned returns the plan of a task's scope, false if none was made yet.
func (p *Planner) planned(task *api.TaskInfo) (*Plan, bool) { return p.Planned(p.scopeOf(task)) }

// NodeFor returns the node that the plan of a task's job has for the task.
func (p *Planner) NodeFor(task *api.TaskInfo) (string, bool) {
	plan, ok := p.planned(task)
	if !ok || !plan.Found() {
		return "", false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		return "", false
	}
	return p.cache.Topology().NodeName(id), true
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
		return nominated || plan.leavesOut(task)
	}
	node := p.ssn.Nodes[p.cache.Topology().NodeName(id)]
	return node != nil && task.InitResreq.LessEqual(node.FutureIdle(), api.Zero) &&
		(plan.future || task.InitResreq.LessEqual(node.Idle, api.Zero))
}

// leavesOut reports whether a plan was made with a task and has no node for it.
func (p *Plan) leavesOut(task *api.TaskInfo) bool {
	return slices.ContainsFunc(p.demand.pending, func(pending []*api.TaskInfo) bool { return containsTask(pending, task) })
}

func containsTask(tasks []*api.TaskInfo, task *api.TaskInfo) bool {
	return slices.ContainsFunc(tasks, func(other *api.TaskInfo) bool { return other.UID == task.UID })
}

// OnNominationAccepted records that a task was placed on its nominated node.
func (p *Planner) OnNominationAccepted(task *api.TaskInfo) {
	metrics.CountHint(true)
	if plan, ok := p.planned(task); ok {
		plan.replans = 0
	}
}

// OnNominationRejected records that a task was not placed on its nominated node.
func (p *Planner) OnNominationRejected(task *api.TaskInfo, node string) {
	metrics.CountHint(false)
	if plan, ok := p.planned(task); ok {
		plan.stale = true
	}
	if id, ok := p.cache.Node(node); ok && p.feasibility != nil {
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
	if _, ok := plan.nodes[task.UID]; ok {
		return false
	}
	for r, pending := range plan.demand.pending {
		if !containsTask(pending, task) {
			continue
		}
		t := p.cache.Topology()
		possible, _ := plan.roles[r].Possible()
		return plan.demand.exact && t.ShapeOn(p.Request(task), p.allowed(plan, possible)).Sum(t.Root()) == 0
	}
	return false
}
