// SPDX-License-Identifier: Apache-2.0

package nominate

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func pending(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, UID: types.UID(name)},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func TestNominator_NominatesInACopy(t *testing.T) {
	pod := pending("j-worker-0")
	task := api.NewTaskInfo(pod)
	n := NewNominator()
	n.Nominate(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Empty(t, pod.Status.NominatedNodeName, "the pod itself, which the informer holds")

	cleared, node := n.Clear()
	require.Same(t, task, cleared)
	require.Equal(t, "n1", node)
	require.Empty(t, task.Pod.Status.NominatedNodeName)
	cleared, _ = n.Clear()
	require.Nil(t, cleared, "a nomination is cleared once")

	n.Nominate(task, "n2")
	require.Equal(t, "n2", task.Pod.Status.NominatedNodeName, "the copy is used again")
}

func TestNominator_ReplacesANomination(t *testing.T) {
	pod := pending("j-worker-0")
	pod.Status.NominatedNodeName = "n9"
	task := api.NewTaskInfo(pod)
	n := NewNominator()
	n.Nominate(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Equal(t, "n9", pod.Status.NominatedNodeName, "the pod itself, which the informer holds")
	cleared, node := n.Clear()
	require.Same(t, task, cleared)
	require.Equal(t, "n1", node)
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)

	n.Nominate(task, "")
	require.Empty(t, task.Pod.Status.NominatedNodeName, "a nomination that is not honored is removed")
	cleared, _ = n.Clear()
	require.Nil(t, cleared, "no node was nominated")
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)
}

func TestNominator_RestoresPodsThatStayPending(t *testing.T) {
	two := []*corev1.Pod{pending("j-worker-0"), pending("j-worker-1")}
	job := api.NewJobInfo("ns/j", api.NewTaskInfo(two[0]), api.NewTaskInfo(two[1]))
	stays, bound := job.Tasks[api.TaskID(two[0].UID)], job.Tasks[api.TaskID(two[1].UID)]
	n := NewNominator()
	n.Nominate(stays, "n1")
	n.Nominate(bound, "n1")
	bound.Pod.Spec.NodeName = "n1" // as Statement.Allocate does
	require.NoError(t, job.UpdateTaskStatus(bound, api.Binding))

	n.Restore(map[api.JobID]*api.JobInfo{job.UID: job})
	require.Same(t, two[0], stays.Pod)
	require.Equal(t, "n1", bound.Pod.Spec.NodeName, "plugins of Kubernetes read it while they bind")
	require.Empty(t, bound.Pod.Status.NominatedNodeName)
	require.Equal(t, corev1.PodStatus{Phase: corev1.PodPending}, two[1].Status)
}
