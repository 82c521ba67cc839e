// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// rejectReason returns why no node is feasible for a task, by the plan of its job, which is made again if it is outdated. It is
// nil if the plan has a node for the task, or if only predicates can decide.
func (c *course) rejectReason(task *api.TaskInfo) (err error) {
	of := guard.Work{Part: metrics.PartPlan, Job: task.Job}
	if c.guard.BackedOff(of) != nil {
		return nil
	}
	if failure := c.guard.Run(of, func() error {
		err = c.planRejects(task)
		return nil
	}); failure != nil {
		c.lost()
	}
	return err
}

func (c *course) planRejects(task *api.TaskInfo) error {
	plan := c.plan(c.scopeOf(c.ssn.Jobs[task.Job], task))
	if plan.placed() && !c.stillValid(plan, task) {
		plan = c.remake(plan)
	}
	switch {
	case errors.Is(plan.err, errInfeasible), errors.Is(plan.err, errLimit):
		return c.why(plan)
	case plan.placed() && c.noCapacityForSurplus(plan, task):
		return errInfeasible
	}
	return nil
}

// nodeFor returns the node that a task's plan has for it.
func (c *course) nodeFor(task *api.TaskInfo) (string, bool) {
	plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).ID()]
	if !ok || !plan.placed() {
		return "", false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		return "", false
	}
	return c.network.Topology().NodeName(id), true
}

// stillValid reports whether the node that a plan has for a task still has capacity for it, or whether the plan has left the
// task out.
func (c *course) stillValid(plan *plan, task *api.TaskInfo) bool {
	if plan.stale {
		return false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		_, nominated := plan.nominated[task.UID]
		return nominated || plan.leavesOut(task)
	}
	node := c.ssn.Nodes[c.network.Topology().NodeName(id)]
	return node != nil && task.InitResreq.LessEqual(node.FutureIdle(), api.Zero) &&
		(plan.future || task.InitResreq.LessEqual(node.Idle, api.Zero))
}

// leavesOut reports whether a plan was made with a task and has no node for it.
func (p *plan) leavesOut(task *api.TaskInfo) bool {
	return slices.ContainsFunc(p.cast.pending, func(pending []*api.TaskInfo) bool {
		return slices.ContainsFunc(pending, func(other *api.TaskInfo) bool { return other.UID == task.UID })
	})
}

// onNominationAccepted notes that a task was placed on its nominated node.
func (c *course) onNominationAccepted(task *api.TaskInfo) {
	metrics.CountHint(true)
	if plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).ID()]; ok {
		plan.replans = 0
	}
}

// onNominationRejected notes that a task was not placed on its nominated node.
func (c *course) onNominationRejected(task *api.TaskInfo, node string) {
	metrics.CountHint(false)
	job := c.ssn.Jobs[task.Job]
	if plan, ok := c.plans[c.scopeOf(job, task).ID()]; ok {
		plan.stale = true
	}
	if id, ok := c.network.Node(node); ok && c.feasibility != nil {
		c.feasibility.Reject(task, id)
	}
}

// noCapacityForSurplus reports whether a pod beyond its role's minimum, for which a plan has no node, fits nowhere.
func (c *course) noCapacityForSurplus(plan *plan, task *api.TaskInfo) bool {
	if _, ok := plan.nodes[task.UID]; ok {
		return false
	}
	t := c.network.Topology()
	request := c.Request(task)
	for r := range plan.cast.demand.Roles {
		for _, pending := range plan.cast.pending[r] {
			if pending.UID != task.UID {
				continue
			}
			role := plan.cast.demand.Roles[r]
			possible, _ := plan.roles[r].Possible()
			role.Request, role.Eligible = request, c.inside(plan, possible)
			return plan.cast.exact && !fitsAll(t, &role, t.Root(), 1)
		}
	}
	return false
}
