// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestHintStandsInACopyAndIsTakenBack(t *testing.T) {
	pod := pods("j", "worker", 1, nil)[0]
	task := api.NewTaskInfo(pod)
	h := newHints()
	h.give(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Empty(t, pod.Status.NominatedNodeName, "the pod itself, which the informer holds")

	taken, node := h.take()
	require.Same(t, task, taken)
	require.Equal(t, "n1", node)
	require.Empty(t, task.Pod.Status.NominatedNodeName)
	taken, _ = h.take()
	require.Nil(t, taken, "a hint is taken back once")

	h.give(task, "n2")
	require.Equal(t, "n2", task.Pod.Status.NominatedNodeName, "the copy serves again")
}

func TestHintStandsOverANomination(t *testing.T) {
	pod := pods("j", "worker", 1, nil)[0]
	pod.Status.NominatedNodeName = "n9"
	task := api.NewTaskInfo(pod)
	h := newHints()
	h.give(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Equal(t, "n9", pod.Status.NominatedNodeName, "the pod itself, which the informer holds")
	taken, node := h.take()
	require.Same(t, task, taken)
	require.Equal(t, "n1", node)
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)

	h.give(task, "")
	require.Empty(t, task.Pod.Status.NominatedNodeName, "a nomination that is not honoured is removed")
	taken, _ = h.take()
	require.Nil(t, taken, "no node was named")
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)
}

func TestPodsThatStayPendingAreTheirOwnAgain(t *testing.T) {
	two := pods("j", "worker", 2, resources{"cpu": "1"})
	job := api.NewJobInfo("ns/j", api.NewTaskInfo(two[0]), api.NewTaskInfo(two[1]))
	stays, bound := job.Tasks[api.TaskID(two[0].UID)], job.Tasks[api.TaskID(two[1].UID)]
	h := newHints()
	h.give(stays, "n1")
	h.give(bound, "n1")
	bound.Pod.Spec.NodeName = "n1" // as Statement.Allocate does
	require.NoError(t, job.UpdateTaskStatus(bound, api.Binding))

	h.restore(map[api.JobID]*api.JobInfo{job.UID: job})
	require.Same(t, two[0], stays.Pod)
	require.Equal(t, "n1", bound.Pod.Spec.NodeName, "plugins of Kubernetes read it while they bind")
	require.Empty(t, bound.Pod.Status.NominatedNodeName)
	require.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, two[1].Status)
}
