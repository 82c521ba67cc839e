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

func TestNomination_NominatesInACopy(t *testing.T) {
	pod := pending("j-worker-0")
	task := api.NewTaskInfo(pod)
	n := nomination{}
	n.set(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Empty(t, pod.Status.NominatedNodeName, "the pod itself, which the informer holds")

	cleared, node := n.clear()
	require.Same(t, task, cleared)
	require.Equal(t, "n1", node)
	require.Empty(t, task.Pod.Status.NominatedNodeName)
	cleared, _ = n.clear()
	require.Nil(t, cleared, "a nomination is cleared once")
}

func TestNomination_ReplacesANomination(t *testing.T) {
	pod := pending("j-worker-0")
	pod.Status.NominatedNodeName = "n9"
	task := api.NewTaskInfo(pod)
	n := nomination{}
	n.set(task, "n1")
	require.Equal(t, "n1", task.Pod.Status.NominatedNodeName)
	require.Equal(t, "n9", pod.Status.NominatedNodeName, "the pod itself, which the informer holds")
	cleared, node := n.clear()
	require.Same(t, task, cleared)
	require.Equal(t, "n1", node)
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)

	n.set(task, "")
	require.Empty(t, task.Pod.Status.NominatedNodeName, "a nomination that is not honored is removed")
	cleared, _ = n.clear()
	require.Nil(t, cleared, "no node was nominated")
	require.Equal(t, "n9", task.Pod.Status.NominatedNodeName)
}
