// SPDX-License-Identifier: Apache-2.0

package preempt

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

func TestBelowMinimum(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		minMember int32
		pods      map[string]int
		statuses  statuses
		want      bool
	}{
		"all run":                 {4, map[string]int{"ps": 2, "worker": 2}, nil, false},
		"a server waits":          {4, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-1": api.Pending}, true},
		"a server has a node":     {4, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-1": api.Pipelined}, false},
		"a server is being bound": {4, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-1": api.Binding}, false},
		"a server is terminating": {4, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-1": api.Releasing}, true},
		"a worker waits":          {4, map[string]int{"ps": 2, "worker": 2}, statuses{"worker-1": api.Pending}, true},
		"a worker that is dispensable waits": {
			4, map[string]int{"ps": 2, "worker": 4}, statuses{"worker-1": api.Pending, "worker-3": api.Pending}, false,
		},
		"minMember above the sum of the roles": {5, map[string]int{"ps": 2, "worker": 3}, statuses{"worker-1": api.Pending}, true},
		"a worker waits beside one that has succeeded": {
			4, map[string]int{"ps": 2, "worker": 2}, statuses{"worker-0": api.Succeeded, "worker-1": api.Pending}, false,
		},
		"a server waits beside one that has succeeded": {
			4, map[string]int{"ps": 2, "worker": 2}, statuses{"worker-0": api.Succeeded, "worker-1": api.Pending, "ps-0": api.Pending}, true,
		},
		"a server has succeeded": {4, map[string]int{"ps": 2, "worker": 2}, statuses{"ps-0": api.Succeeded, "worker-1": api.Pending}, true},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(test.minMember, twoTwo, test.pods)
			g := paddlejob.NewGang(job, defaultTaskRoles)
			inStatus(t, job, test.statuses)
			g.RelaxForCompletion(job, defaultTaskRoles)
			g.Apply(job, defaultTaskRoles)
			require.Equal(t, test.want, belowMinimum(job))
		})
	}
}

// A job is below a minimum if fewer of its groups are whole than it needs.
func TestBelowMinimum_SubGroups(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{Spec: scheduling.PodGroupSpec{
		MinMember: 2, MinTaskMember: map[string]int32{"worker": 2},
		SubGroupPolicy: []scheduling.SubGroupPolicySpec{{
			Name: "pairs", SubGroupSize: ptr.To(int32(2)), MatchLabelKeys: []string{"pair"}, MinSubGroups: ptr.To(int32(1)),
		}},
	}}})
	for i, pod := range plainPods("job", "worker", 4, "1") {
		pod.Labels["pair"] = []string{"a", "a", "b", "b"}[i]
		task := api.NewTaskInfo(pod).Clone()
		task.Status = []api.TaskStatus{api.Running, api.Pending, api.Running, api.Pending}[i]
		job.AddTaskInfo(task)
	}
	g := paddlejob.NewGang(job, defaultTaskRoles)
	g.Apply(job, defaultTaskRoles)
	require.True(t, belowMinimum(job))
	for _, task := range paddlejob.InOrder(job)[:2] {
		require.NoError(t, job.UpdateTaskStatus(task, api.Running))
	}
	require.False(t, belowMinimum(job))
}
