// SPDX-License-Identifier: Apache-2.0

// Package nominate passes the nodes of plans to Volcano's action allocate. Volcano 1.14 has no extension point for it: allocate
// checks the node in status.nominatedNodeName of a pod first and, if that is feasible, no other node.
package nominate

import (
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner"
)

// Nominator nominates the node that a plan has for a task while allocate calls the plugin for that task, and reports to the planner
// whether Volcano has accepted the node. Its methods are named after the extension points at which they are called.
type Nominator struct {
	planner *planner.Planner
	action  actionTracker
	current nomination
}

// New returns a Nominator without a nomination.
func New(p *planner.Planner) *Nominator { return &Nominator{planner: p} }

// JobValid clears the nomination that the action before has left.
func (n *Nominator) JobValid() {
	n.action = actionTracker{} // an action may begin
	n.Clear()
}

// Allocatable reports whether allocate may call it. It is else called by preempt or reclaim, maybe from several goroutines.
func (n *Nominator) Allocatable(task *api.TaskInfo) bool {
	if n.action.other {
		return false
	}
	n.Clear()
	n.action.allocatable = task.UID
	return true
}

// PrePredicate reports whether allocate calls it.
func (n *Nominator) PrePredicate(task *api.TaskInfo) bool {
	n.Clear()
	return n.action.inAllocate(task.UID)
}

// Nominate nominates the node that the plan of a task's job has for the task. A nomination that the plan does not honor is
// removed meanwhile.
func (n *Nominator) Nominate(task *api.TaskInfo) {
	if node, ok := n.planner.NodeFor(task); ok || n.planner.IgnoresNomination(task) {
		n.current.set(task, node)
	}
}

// Clear clears the nomination of a task that was not placed on its node.
func (n *Nominator) Clear() {
	if task, node := n.current.clear(); task != nil {
		n.planner.OnNominationRejected(task, node)
	}
}

// Replan replans a gang if the nominated node of a task has been rejected, and returns the new node of the task. Without it the
// first pod of the gang would be placed by cost alone and the others would follow it.
func (n *Nominator) Replan(task *api.TaskInfo) (node string, ok bool) {
	if n.current.node == "" || n.current.task.UID != task.UID {
		return "", false
	}
	n.Clear()
	return n.planner.ReplanAfterRejection(task)
}

// OnAllocate follows a task that was placed, by any action.
func (n *Nominator) OnAllocate(event *framework.Event) {
	placed := event.Task
	n.planner.OnTaskChanged(placed)
	task, node := n.current.clear()
	switch {
	case task == nil:
	case task.UID == placed.UID && placed.NodeName == node:
		n.planner.OnNominationAccepted(placed)
	default:
		n.planner.OnNominationRejected(task, node)
	}
}

// OnDeallocate follows a task that was deallocated or evicted.
func (n *Nominator) OnDeallocate(event *framework.Event) {
	n.planner.OnTaskChanged(event.Task)
	n.Clear()
}

// nomination is the nomination of one task at a time.
//
// It must not outlast the extension points that allocate calls for the task: it would be written to the API server with the
// status of a pod that stays pending, and would keep the pod from preempting. So it is set in a copy of the pod at PrePredicate
// and cleared at the next call of any function of the plugin. The copy is then equal to the pod.
type nomination struct {
	task *api.TaskInfo // nil if none has a nomination
	node string        // "" if the nomination that the pod had is removed
	had  string        // the nomination that the pod had
}

// set nominates a node for a task instead of the nomination that its pod has. With node "" it removes that one.
func (n *nomination) set(task *api.TaskInfo, node string) {
	n.clear()
	n.task, n.node, n.had = task, node, task.Pod.Status.NominatedNodeName
	pod := *task.Pod
	pod.Status.NominatedNodeName = node
	task.Pod = &pod
}

// clear restores the nomination that the task's pod had. It returns the task and its node, nil and "" if none was nominated.
func (n *nomination) clear() (task *api.TaskInfo, node string) {
	if n.node != "" {
		task, node = n.task, n.node
	}
	if n.task != nil {
		n.task.Pod.Status.NominatedNodeName = n.had
	}
	*n = nomination{}
	return task, node
}

// actionTracker finds out whether allocate calls the plugin, because all actions call the same extension points and only
// allocate may see a nomination.
//
// allocate calls Allocatable for a task and then PrePredicate for the same one. backfill, preempt and reclaim begin with
// PrePredicate. Each action but shuffle, which calls neither, begins with JobValid (pkg/scheduler/actions).
type actionTracker struct {
	allocatable api.TaskID // the last task of Allocatable
	other       bool       // an action other than allocate runs
}

// inAllocate is called at PrePredicate and reports whether allocate has called it.
func (t *actionTracker) inAllocate(task api.TaskID) bool {
	t.other = t.other || t.allocatable != task // preempt calls Allocatable after PrePredicate
	t.allocatable = ""
	return !t.other
}
