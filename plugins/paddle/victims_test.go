// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	paddlejob "github.com/paddle-volcano/paddle-volcano/plugins/paddle/job"
)

// inStatus is a job whose pods run, but for those that are named, such as "worker-1": api.Succeeded.
func inStatus(t *testing.T, job *api.JobInfo, others map[string]api.TaskStatus) *api.JobInfo {
	t.Helper()
	for _, task := range paddlejob.InOrder(job) {
		status, ok := others[strings.TrimPrefix(task.Name, "job-")]
		if !ok {
			status = api.Running
		}
		require.NoError(t, job.UpdateTaskStatus(task, status))
	}
	return job
}

func TestNewStanding(t *testing.T) {
	type statuses = map[string]api.TaskStatus
	for name, test := range map[string]struct {
		minMember     int32
		minTaskMember map[string]int32
		pods          map[string]int
		statuses      statuses
		evicted       []string
		spare         []string
		broken        bool
	}{
		"nothing to spare": {4, twoTwo, map[string]int{"ps": 2, "worker": 2}, nil, nil, nil, false},
		"workers beyond the minimum, the last ones": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 12}, statuses{"worker-0": api.Pending}, nil,
			[]string{"worker-10", "worker-11", "worker-3", "worker-4", "worker-5", "worker-6", "worker-7", "worker-8", "worker-9"}, false,
		},
		"never a server, and never a stage of the model": {
			2, map[string]int32{"ps": 1, "heter": 0, "worker": 1}, map[string]int{"ps": 3, "heter": 2, "worker": 2}, nil, nil,
			[]string{"worker-1"}, false,
		},
		"what else is in the job goes before workers": {
			5, map[string]int32{"ps": 1, "worker": 2, "board": 0}, map[string]int{"ps": 1, "worker": 4, "board": 1}, nil, nil,
			[]string{"board-0"}, false,
		},
		"minMember above the sum of the roles": {
			5, twoTwo, map[string]int{"ps": 2, "worker": 5}, nil, nil, []string{"worker-3", "worker-4"}, false,
		},
		"minMember below it": {
			3, twoTwo, map[string]int{"ps": 2, "worker": 2}, nil, nil, []string{"worker-1"}, false,
		},
		"a worker that has succeeded counts and cannot go": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"worker-3": api.Succeeded}, nil, []string{"worker-1", "worker-2"}, false,
		},
		"pods that are ending, have failed or wait do not count": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 5},
			statuses{"worker-0": api.Releasing, "worker-1": api.Failed, "worker-2": api.Pending}, nil, nil, false,
		},
		"pods being bound count": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 3}, statuses{"worker-0": api.Binding, "worker-1": api.Bound}, nil, []string{"worker-2"}, false,
		},
		"a gang that lacks a server spares no more than the rest": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"ps-0": api.Pending}, nil, []string{"worker-3"}, false,
		},
		"a spare worker was evicted": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 4}, statuses{"worker-3": api.Releasing}, []string{"worker-3"}, []string{"worker-2"}, false,
		},
		"so was one that was needed": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 2}, statuses{"worker-1": api.Releasing}, []string{"worker-1"}, nil, true,
		},
		"so was one that was needed, and others were not": {
			3, map[string]int32{"ps": 1, "worker": 2, "board": 0}, map[string]int{"ps": 1, "worker": 2, "board": 2},
			statuses{"worker-1": api.Releasing}, []string{"worker-1"}, []string{"board-1"}, true,
		},
		"so was a server that was none of the minimum": {
			3, map[string]int32{"ps": 1, "worker": 2}, map[string]int{"ps": 2, "worker": 2}, statuses{"ps-1": api.Releasing}, []string{"ps-1"}, nil, true,
		},
		"so was one that minMember counted": {
			5, twoTwo, map[string]int{"ps": 2, "worker": 3}, statuses{"worker-2": api.Releasing}, []string{"worker-2"}, nil, true,
		},
		"lost, but not evicted here": {
			4, twoTwo, map[string]int{"ps": 2, "worker": 2}, statuses{"ps-0": api.Releasing}, nil, nil, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(test.minMember, test.minTaskMember, test.pods)
			g := paddlejob.NewGang(job, defaultTaskRoles)
			inStatus(t, job, test.statuses)
			evicted := map[api.TaskID]bool{}
			var members, spare []string
			for _, task := range paddlejob.InOrder(job) {
				name := strings.TrimPrefix(task.Name, "job-")
				if slices.Contains(test.evicted, name) {
					evicted[task.UID] = true
				}
				if api.AllocatedStatus(task.Status) {
					members = append(members, task.Name)
				}
			}
			s := newStanding(job, g, defaultTaskRoles, evicted, nil)
			var got []string
			for _, task := range s.members {
				got = append(got, task.Name)
				if s.spare[task.UID] {
					spare = append(spare, strings.TrimPrefix(task.Name, "job-"))
				}
			}
			slices.Sort(spare)
			require.Equal(t, test.spare, spare)
			require.Equal(t, test.broken, s.broken)
			require.ElementsMatch(t, members, got)
		})
	}
}

// gang.hold raises the job's own minimum, which must not keep workers that can be missed.
func TestStandingOfHeldGang(t *testing.T) {
	job := inStatus(t, jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 4}), map[string]api.TaskStatus{"ps-1": api.Pending})
	g := paddlejob.NewGang(job, defaultTaskRoles)
	g.Apply(job, defaultTaskRoles)
	require.Equal(t, int32(6), job.MinAvailable)
	require.Len(t, newStanding(job, g, defaultTaskRoles, nil, nil).spare, 1)

	job.PodGroup.Spec.SubGroupPolicy = []scheduling.SubGroupPolicySpec{{Name: "pairs"}}
	require.Empty(t, newStanding(job, g, defaultTaskRoles, nil, nil).spare, "each may be needed in its group")
	worker := paddlejob.InOrder(job)[len(paddlejob.InOrder(job))-1]
	require.True(t, newStanding(job, g, defaultTaskRoles, map[api.TaskID]bool{worker.UID: true}, nil).broken)

	job.PodGroup = nil
	require.Len(t, newStanding(job, g, defaultTaskRoles, nil, nil).spare, 1)
}

func TestCompareMembers(t *testing.T) {
	job := jobInfo(0, nil, map[string]int{"board": 1, "worker": 11, "heter": 1, "ps": 2})
	tasks := paddlejob.InOrder(job)
	slices.SortFunc(tasks, func(a, b *api.TaskInfo) int { return compareMembers(a, b, defaultTaskRoles) })
	var got []string
	for _, task := range tasks {
		got = append(got, strings.TrimPrefix(task.Name, "job-"))
	}
	require.Equal(t, []string{"ps-0", "ps-1", "heter-0", "worker-0", "worker-1", "worker-2", "worker-3", "worker-4", "worker-5",
		"worker-6", "worker-7", "worker-8", "worker-9", "worker-10", "board-0"}, got)
	a, b := api.TaskInfo{Name: "a", Pod: tasks[0].Pod}, api.TaskInfo{Name: "b", Pod: tasks[0].Pod}
	require.Negative(t, compareMembers(&a, &b, defaultTaskRoles), "ties end in names")
}
