// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// allocatable is what allocate asks first about a task: here its job is planned. A task for which it is certain that no
// node will do is refused at once, which costs nothing; where nodes are looked for, each must be given a reason.
func (p *plugin) allocatable(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if p.action.OtherAction() { // preempt and reclaim, which may ask from several goroutines
		return true
	}
	p.clearNomination()
	p.action.Allocatable(task.UID)
	if _, ok := p.gangs[task.Job]; !ok {
		return true
	}
	p.tried = task.Job
	if err := p.course.rejectReason(task); err != nil {
		p.recordError(p.ssn.Jobs[task.Job], err)
		return false
	}
	return true
}

// prePredicate is asked by each action before it looks for a node for a task. In allocate the task is given the node
// that its job's plan has for it, and a nomination that is not honoured is removed for as long.
func (p *plugin) prePredicate(task *api.TaskInfo) error {
	if p.course.asking {
		return nil
	}
	p.bestEffort.Remove(p.ssn.Jobs)
	p.clearNomination()
	inAllocate := p.action.InAllocate(task.UID)
	p.course.constraint = nil
	if _, ok := p.gangs[task.Job]; !ok {
		return nil
	}
	p.tried = task.Job
	err := p.guard.Run(guard.Work{Part: metrics.PartLimit, Job: task.Job}, func() (err error) {
		p.course.constraint, err = p.course.constraintOf(task)
		return err
	})
	if err != nil {
		p.recordError(p.ssn.Jobs[task.Job], err)
		return err
	}
	if !inAllocate {
		return nil
	}
	if node, ok := p.course.nodeFor(task); ok || p.course.ignoresNomination(task) {
		p.nominator.Nominate(task, node)
	}
	return nil
}

// clearNomination clears the nomination of a task that was not placed on its node.
func (p *plugin) clearNomination() {
	if task, node := p.nominator.Clear(); task != nil {
		p.course.onNominationRejected(task, node)
	}
}

// onAllocate follows a task that was placed, by whatever action.
func (p *plugin) onAllocate(event *framework.Event) {
	task := event.Task
	p.course.changed(task)
	nominated, node := p.nominator.Clear()
	switch {
	case nominated == nil:
	case nominated.UID == task.UID && task.NodeName == node:
		p.course.onNominationAccepted(task)
	default:
		p.course.onNominationRejected(nominated, node)
	}
}

// onDeallocate follows a task that was taken back or evicted.
func (p *plugin) onDeallocate(event *framework.Event) {
	p.course.changed(event.Task)
	p.clearNomination()
}

// predicate enforces required network topology and colocation.
func (p *plugin) predicate(task *api.TaskInfo, node *api.NodeInfo) error {
	c := p.course.constraint
	if p.course.asking || c == nil || c.task != task.UID {
		return nil
	}
	id, ok := p.course.network.Node(node.Name)
	if !ok {
		return nil
	}
	if allowed, why := c.allows(p.course.network.Topology(), id); !allowed {
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
	if node, ok := p.replanAfterRejection(task); ok {
		return map[string]float64{node: maxScore * p.arguments.Weight}, nil
	}
	return p.course.score(task, nodes), nil
}

// replanAfterRejection replans the gang after predicates have rejected the nominated node of a task, and returns the new node of
// the task. Without it the first pod of the gang would be placed by cost alone and the others would follow it. Under
// networkTopology nothing is replanned: the nodes that are scored are those near the rejected one.
func (p *plugin) replanAfterRejection(task *api.TaskInfo) (string, bool) {
	c := p.course
	if nominated, _ := p.nominator.Nominated(); nominated == nil || nominated.UID != task.UID || c.constraint != nil && len(c.constraint.bounds) > 0 {
		return "", false
	}
	p.clearNomination()
	c.remake(c.plan(c.scopeOf(p.ssn.Jobs[task.Job], task)))
	return c.nodeFor(task)
}
