// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestEachLineHasItsPrefix(t *testing.T) {
	var out strings.Builder
	streamer := &logStreamer{out: &out}
	require.NoError(t, streamer.copy(strings.NewReader("step 1\n\nstep 2"), "[worker-3] "))
	require.Equal(t, "[worker-3] step 1\n[worker-3] \n[worker-3] step 2\n", out.String())
}

func TestChoose(t *testing.T) {
	var pods []*corev1.Pod
	for _, name := range []string{"a-ps-0", "a-worker-0", "a-worker-1"} {
		role := strings.Split(name, "-")[1]
		pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"volcano.sh/task-spec": role, "paddle-res-type": role}}})
	}
	names := func(role string, rank int) (names []string) {
		for _, m := range choose(pods, role, rank) {
			names = append(names, m.Pod.Name)
		}
		return names
	}
	require.Equal(t, []string{"a-worker-0", "a-worker-1"}, names("worker", -1))
	require.Equal(t, []string{"a-worker-1"}, names("worker", 1))
	require.Empty(t, names("ps", 1))
}

func TestStarted(t *testing.T) {
	pod := &corev1.Pod{}
	require.False(t, started(pod, "paddle"))
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "paddle"}, {Name: "side", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	require.False(t, started(pod, "paddle"))
	require.True(t, started(pod, "side"))
	pod.Status.Phase = corev1.PodFailed
	require.True(t, started(pod, "paddle"))
}
