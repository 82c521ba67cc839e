// SPDX-License-Identifier: Apache-2.0

// Package nominate passes the node of a plan to Volcano's action allocate. Volcano 1.14 has no extension point for it: allocate
// checks the node in status.nominatedNodeName of a pod first and, if that is feasible, no other node.
package nominate

import (
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// Nominator nominates a node for one task at a time.
//
// A nomination must not outlast the extension points that allocate calls for the task: it would be written to the API server
// with the status of a pod that stays pending, and would keep the pod from preempting. So it is set in a copy of the pod at
// PrePredicate and cleared at the next call of the plugin, whatever that is. The copy is then equal to the pod.
type Nominator struct {
	task *api.TaskInfo // nil if none has a nomination
	node string
	pods map[api.TaskID]*corev1.Pod // the pods that copies replace in the session
}

// NewNominator returns a Nominator without a nomination.
func NewNominator() *Nominator { return &Nominator{pods: map[api.TaskID]*corev1.Pod{}} }

// Nominate nominates a node for a task in place of a nomination that its pod has. With node "" it removes that one.
func (n *Nominator) Nominate(task *api.TaskInfo, node string) {
	if _, copied := n.pods[task.UID]; !copied {
		n.pods[task.UID] = task.Pod
		pod := *task.Pod
		task.Pod = &pod
	}
	task.Pod.Status.NominatedNodeName = node
	n.task, n.node = task, node
}

// Nominated returns the task that has a nomination and its node, nil and "" if none has.
func (n *Nominator) Nominated() (task *api.TaskInfo, node string) {
	if n.node == "" {
		return nil, ""
	}
	return n.task, n.node
}

// Clear restores the nomination that the task's pod had and returns what Nominated did before.
func (n *Nominator) Clear() (task *api.TaskInfo, node string) {
	task, node = n.Nominated()
	if n.task != nil {
		n.task.Pod.Status.NominatedNodeName = n.pods[n.task.UID].Status.NominatedNodeName
	}
	n.task, n.node = nil, ""
	return task, node
}

// Restore gives pending tasks their own pods at the end of a session. Tasks that are being bound keep the copies, because
// plugins of Kubernetes read spec.nodeName from them.
func (n *Nominator) Restore(jobs map[api.JobID]*api.JobInfo) {
	n.Clear()
	for _, job := range jobs {
		for id, task := range job.TaskStatusIndex[api.Pending] {
			if pod, ok := n.pods[id]; ok {
				task.Pod = pod
			}
		}
	}
	clear(n.pods)
}
