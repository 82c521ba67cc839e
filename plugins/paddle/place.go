// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// allocatable refuses workers of a job that has begun to end, and notes that allocate has come to a task.
func (p *plugin) allocatable(_ *api.QueueInfo, task *api.TaskInfo) bool {
	p.settle()
	p.phase.allocatable(task.UID)
	return true
}

// prePredicate is asked by each action before it looks for a node for a task. In allocate the task is given the node
// that its job's plan has for it; tasks for which it is certain that no node will do are refused.
func (p *plugin) prePredicate(task *api.TaskInfo) error {
	if p.course.asking {
		return nil
	}
	p.standIns.hide(p.ssn.Jobs)
	p.settle()
	allocates := p.phase.allocates(task.UID)
	p.course.fenced = nil
	if _, ok := p.gangs[task.Job]; !ok {
		return nil
	}
	p.tried = task.Job
	var err error
	if p.course.fenced, err = p.course.fence(task); err != nil {
		p.refused(p.ssn.Jobs[task.Job], err)
		return err
	}
	if !allocates {
		return nil
	}
	return p.hint(task)
}

// hint names a node to a task of a plan.
func (p *plugin) hint(task *api.TaskInfo) error {
	c := p.course
	job := p.ssn.Jobs[task.Job]
	plan := c.plan(c.scopeOf(job, task))
	if plan.placed() && !c.holds(plan, task) {
		plan = c.remake(plan)
	}
	switch {
	case errors.Is(plan.err, errHopeless), errors.Is(plan.err, errLimit):
		err := c.why(plan)
		p.refused(job, err)
		return err
	case !plan.placed():
		return nil
	}
	node, ok := plan.nodes[task.UID]
	if !ok {
		if c.full(plan, task) {
			return errHopeless
		}
		return nil
	}
	p.hints.give(task, c.network.Topology().NodeName(node))
	return nil
}

// settle takes back a hint that was given, whatever became of the task.
func (p *plugin) settle() {
	if task, node := p.hints.take(); task != nil {
		p.course.missed(task, node)
	}
}

// onAllocate follows a task that was placed, by whatever action.
func (p *plugin) onAllocate(event *framework.Event) {
	task := event.Task
	p.course.changed(task)
	hinted, node := p.hints.take()
	switch {
	case hinted == nil:
	case hinted.UID == task.UID && task.NodeName == node:
		p.course.took(task)
	default:
		p.course.missed(hinted, node)
	}
}

// onDeallocate follows a task that was taken back or evicted.
func (p *plugin) onDeallocate(event *framework.Event) {
	p.course.changed(event.Task)
	p.settle()
}

// predicate holds the limits of a job's network topology and colocation.
func (p *plugin) predicate(task *api.TaskInfo, node *api.NodeInfo) error {
	f := p.course.fenced
	if p.course.asking || f == nil || f.task != task.UID {
		return nil
	}
	id, ok := p.course.network.Node(node.Name)
	if !ok {
		return nil
	}
	if lets, why := f.lets(p.course.network.Topology(), id); !lets {
		return api.NewFitErrWithStatus(task, node, &api.Status{
			Code: api.UnschedulableAndUnresolvable, Reason: why, Plugin: PluginName,
		})
	}
	return nil
}

// batchNodeOrder rates nodes for tasks of Paddle jobs that follow no plan.
func (p *plugin) batchNodeOrder(task *api.TaskInfo, nodes []*api.NodeInfo) (map[string]float64, error) {
	if _, ok := p.gangs[task.Job]; !ok {
		return nil, nil
	}
	return p.course.score(task, nodes), nil
}

// holds tells whether a plan still has room for a task where it wants it, or knows that there is none.
func (c *course) holds(plan *plan, task *api.TaskInfo) bool {
	if plan.stale {
		return false
	}
	id, ok := plan.nodes[task.UID]
	if !ok {
		return false
	}
	node := c.ssn.Nodes[c.network.Topology().NodeName(id)]
	return node != nil && task.InitResreq.LessEqual(node.FutureIdle(), api.Zero) &&
		(plan.future || task.InitResreq.LessEqual(node.Idle, api.Zero))
}

// took notes that a hint was followed.
func (c *course) took(task *api.TaskInfo) {
	countHints(true)
	if plan, ok := c.plans[c.scopeOf(c.ssn.Jobs[task.Job], task).key()]; ok {
		plan.remade = 0
	}
}

// missed notes that the node of a hint would not do: predicates refused it, or nothing came of the task.
func (c *course) missed(task *api.TaskInfo, node string) {
	countHints(false)
	job := c.ssn.Jobs[task.Job]
	if plan, ok := c.plans[c.scopeOf(job, task).key()]; ok {
		plan.stale = true
	}
	id, ok := c.network.Node(node)
	if suit, err := c.suit(job, task); ok && err == nil {
		suit.refuse(c.network.Topology(), id)
	}
}

// full tells whether a pod beyond its role's minimum, for which a plan has no node, has room nowhere.
func (c *course) full(plan *plan, task *api.TaskInfo) bool {
	t := c.network.Topology()
	request := c.Request(task)
	for r := range plan.cast.demand.Roles {
		for _, pending := range plan.cast.pending[r] {
			if pending.UID != task.UID {
				continue
			}
			role := plan.cast.demand.Roles[r]
			role.Request = request
			return plan.cast.exact && !roomFor(t, &role, t.Root(), 1)
		}
	}
	return false
}
