// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// allocatable is what allocate asks first about a task: here its job is planned. A task for which it is certain that no
// node will do is refused at once, which costs nothing; where nodes are looked for, each must be given a reason.
func (p *plugin) allocatable(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if p.phase.other { // preempt and reclaim, which may ask from several goroutines
		return true
	}
	p.settle()
	p.phase.allocatable(task.UID)
	if _, ok := p.gangs[task.Job]; !ok {
		return true
	}
	p.tried = task.Job
	if err := p.course.refusal(task); err != nil {
		p.refused(p.ssn.Jobs[task.Job], err)
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
	p.settle()
	allocates := p.phase.allocates(task.UID)
	p.course.fenced = nil
	if _, ok := p.gangs[task.Job]; !ok {
		return nil
	}
	p.tried = task.Job
	err := p.guard.recovered(workOn{metrics.PartLimit, task.Job}, func() (err error) {
		p.course.fenced, err = p.course.fence(task)
		return err
	})
	if err != nil {
		p.refused(p.ssn.Jobs[task.Job], err)
		return err
	}
	if !allocates {
		return nil
	}
	if node, ok := p.course.nodeFor(task); ok || p.course.ignoresNomination(task) {
		p.hints.give(task, node)
	}
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
	if node, ok := p.again(task); ok {
		return map[string]float64{node: maxScore * p.arguments.Weight}, nil
	}
	return p.course.score(task, nodes), nil
}

// again plans once more when the node of a task's hint has just been refused, so that other nodes are rated, and tells
// which one the task has now: by cost alone the first pod of a gang may go anywhere, and the others must follow. Under a
// limit of networkTopology the nodes that are rated are those near the one that was refused.
func (p *plugin) again(task *api.TaskInfo) (string, bool) {
	c := p.course
	if p.hints.node == "" || p.hints.task.UID != task.UID || c.fenced != nil && len(c.fenced.walls) > 0 {
		return "", false
	}
	p.settle()
	c.remake(c.plan(c.scopeOf(p.ssn.Jobs[task.Job], task)))
	return c.nodeFor(task)
}
