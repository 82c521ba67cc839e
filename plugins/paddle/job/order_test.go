// SPDX-License-Identifier: Apache-2.0

package job

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestRanks(t *testing.T) {
	job := jobInfo(5, map[string]int32{"ps": 2, "worker": 2, "board": 0},
		map[string]int{"ps": 3, "worker": 11, "heter": 1, "board": 1})
	status := func(name string, status api.TaskStatus) {
		for _, task := range job.Tasks {
			if task.Name == name {
				require.NoError(t, job.UpdateTaskStatus(task, status))
			}
		}
	}
	status("job-ps-0", api.Running)
	status("job-worker-1", api.Releasing) // counts for nothing
	gang := NewGang(job, defaultTaskRoles)
	order := Ranks(job, gang)

	var tasks []*api.TaskInfo
	for _, task := range job.Tasks {
		if _, ok := order[task.UID]; ok {
			tasks = append(tasks, task)
		}
	}
	slices.SortFunc(tasks, func(a, b *api.TaskInfo) int { return order[a.UID].Compare(order[b.UID]) })
	var names []string
	for _, task := range tasks {
		names = append(names, task.Name)
	}
	require.Equal(t, []string{
		"job-ps-1", "job-heter-0", "job-worker-0", "job-worker-2", // the minimum
		"job-ps-2", "job-worker-3", "job-worker-4", "job-worker-5", "job-worker-6", "job-worker-7", "job-worker-8",
		"job-worker-9", "job-worker-10", "job-board-0",
	}, names)
	for _, a := range order {
		for _, b := range order {
			require.Equal(t, a.Compare(b), -b.Compare(a), "%v and %v", a, b)
		}
	}
}

// Ties end in names.
func TestRanks_PodsWithoutIndex(t *testing.T) {
	a, b := Rank{index: -1, name: "a"}, Rank{index: -1, name: "b"}
	require.Negative(t, a.Compare(b))
	require.Zero(t, a.Compare(Rank{index: -1, name: "a"}))
}

func TestPodIndex(t *testing.T) {
	for name, test := range map[string]struct {
		annotations map[string]string
		index       int
	}{
		"a Volcano Job's":    {map[string]string{TaskIndexKey: "7", CompletionIndexKey: "3"}, 7},
		"a Kubernetes Job's": {map[string]string{CompletionIndexKey: "3"}, 3},
		"a plain pod's":      {nil, -1},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.index, PodIndex(&api.TaskInfo{Pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: test.annotations}}}))
		})
	}
	require.True(t, IsPerPodKey(CompletionIndexKey))
	require.False(t, IsPerPodKey(jobSetNameLabel))
}
