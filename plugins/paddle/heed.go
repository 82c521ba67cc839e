// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// refusal is why no node will do for a task, by the plan of its job, which is made again if it went stale. nil if the
// plan has a node for it, or if only the predicates can tell.
func (c *course) refusal(task *api.TaskInfo) (err error) {
	of := workOn{metrics.PartPlan, task.Job}
	if c.guard.refuses(of) != nil {
		return nil
	}
	if failure := c.guard.recovered(of, func() error {
		err = c.planRefuses(task)
		return nil
	}); failure != nil {
		c.lost()
	}
	return err
}

func (c *course) planRefuses(task *api.TaskInfo) error {
	plan := c.plan(c.scopeOf(c.ssn.Jobs[task.Job], task))
	if plan.placed() && !c.holds(plan, task) {
		plan = c.remake(plan)
	}
	switch {
	case errors.Is(plan.err, errHopeless), errors.Is(plan.err, errLimit):
		return c.why(plan)
	case plan.placed() && c.full(plan, task):
		return errHopeless
	}
	return nil
}

// nodeFor is the node that a task's plan has for it.
func (c *course) nodeFor(task *api.TaskInfo) (string, bool) {
	plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).key()]
	if !ok || !plan.placed() {
		return "", false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		return "", false
	}
	return c.network.Topology().NodeName(id), true
}

// holds tells whether a plan still has room for a task where it wants it, or knows that there is none.
func (c *course) holds(plan *plan, task *api.TaskInfo) bool {
	if plan.stale {
		return false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		_, nominated := plan.nominated[task.UID]
		return nominated || plan.left(task)
	}
	node := c.ssn.Nodes[c.network.Topology().NodeName(id)]
	return node != nil && task.InitResreq.LessEqual(node.FutureIdle(), api.Zero) &&
		(plan.future || task.InitResreq.LessEqual(node.Idle, api.Zero))
}

// left tells whether a plan was made with a task, and has no node for it.
func (p *plan) left(task *api.TaskInfo) bool {
	return slices.ContainsFunc(p.cast.pending, func(pending []*api.TaskInfo) bool {
		return slices.ContainsFunc(pending, func(other *api.TaskInfo) bool { return other.UID == task.UID })
	})
}

// took notes that a hint was followed.
func (c *course) took(task *api.TaskInfo) {
	metrics.CountHint(true)
	if plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).key()]; ok {
		plan.remade = 0
	}
}

// missed notes that the node of a hint would not do: predicates refused it, or nothing came of the task.
func (c *course) missed(task *api.TaskInfo, node string) {
	metrics.CountHint(false)
	job := c.ssn.Jobs[task.Job]
	if plan, ok := c.plans[c.scopeOf(job, task).key()]; ok {
		plan.stale = true
	}
	id, ok := c.network.Node(node)
	if suit := c.suit(task); ok && suit != nil {
		suit.remember(c.network.Topology(), id)
	}
}

// full tells whether a pod beyond its role's minimum, for which a plan has no node, has room nowhere.
func (c *course) full(plan *plan, task *api.TaskInfo) bool {
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
			role.Request, role.Eligible = request, c.inside(plan, plan.kinds[r].possible())
			return plan.cast.exact && !roomFor(t, &role, t.Root(), 1)
		}
	}
	return false
}
