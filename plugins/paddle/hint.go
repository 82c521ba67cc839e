// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// hints name to allocate the node of a plan, one task at a time: allocate tests the node in status.nominatedNodeName
// before it looks at any other, and skips all others if that one will do (allocateResourcesForTasks).
//
// The name must not outlive the moment: it would be written to the API server with the status of a pod that stays
// pending, and keep the pod from preempting. So it stands in a copy of the pod, and only between PrePredicate and what
// comes next, whatever that is. What is left then is a copy that says what the pod said.
type hints struct {
	task *api.TaskInfo // the task that bears a hint, nil if none does
	node string
	// own are the pods that copies stand for, until the session ends.
	own map[api.TaskID]*corev1.Pod
}

func newHints() *hints { return &hints{own: map[api.TaskID]*corev1.Pod{}} }

// give names a node to the task that allocate asks about, in place of a nomination that is not honoured. Without a node it
// only removes the nomination.
func (h *hints) give(task *api.TaskInfo, node string) {
	if _, copied := h.own[task.UID]; !copied {
		h.own[task.UID] = task.Pod
		hinted := *task.Pod
		task.Pod = &hinted
	}
	task.Pod.Status.NominatedNodeName = node
	h.task, h.node = task, node
}

// take takes the hint back, and returns its task and its node; nil if none was named. The pod's own nomination is there again.
func (h *hints) take() (task *api.TaskInfo, node string) {
	task, node = h.task, h.node
	if task != nil {
		task.Pod.Status.NominatedNodeName = h.own[task.UID].Status.NominatedNodeName
	}
	h.task, h.node = nil, ""
	if node == "" {
		return nil, ""
	}
	return task, node
}

// restore gives tasks that stayed pending their own pods. Those that are being bound keep the copy, as plugins of
// Kubernetes read spec.nodeName from it while they bind.
func (h *hints) restore(jobs map[api.JobID]*api.JobInfo) {
	h.take()
	for _, job := range jobs {
		for id, task := range job.TaskStatusIndex[api.Pending] {
			if pod, ok := h.own[id]; ok {
				task.Pod = pod
			}
		}
	}
	clear(h.own)
}
