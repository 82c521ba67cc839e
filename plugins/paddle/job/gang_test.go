// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestNewGang(t *testing.T) {
	type counts = map[string]int
	type minimums = map[string]int32
	for name, test := range map[string]struct {
		minMember     int32
		minTaskMember minimums
		pods          counts
		want          Gang
	}{
		"minMember is the sum": {
			4, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 2},
			Gang{{"ps", Server, 2}, {"worker", Worker, 2}},
		},
		"minMember above the sum changes no role": {
			6, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 6},
			Gang{{"ps", Server, 2}, {"worker", Worker, 2}},
		},
		"workers give way": {
			5, minimums{"ps": 2, "worker": 8}, counts{"ps": 2, "worker": 8},
			Gang{{"ps", Server, 2}, {"worker", Worker, 3}},
		},
		"servers do not, and one worker is left": {
			1, minimums{"ps": 2, "worker": 8}, counts{"ps": 2, "worker": 8},
			Gang{{"ps", Server, 2}, {"worker", Worker, 1}},
		},
		"nor heter workers, nor what else is in the job": {
			5, minimums{"ps": 1, "heter": 2, "worker": 4, "board": 1}, counts{"ps": 1, "heter": 2, "worker": 4, "board": 1},
			Gang{{"ps", Server, 1}, {"heter", Heter, 2}, {"worker", Worker, 1}, {"board", Other, 1}},
		},
		"collective": {
			3, minimums{"worker": 8}, counts{"worker": 8}, Gang{{"worker", Worker, 3}},
		},
		"unset minMember lowers nothing": {
			0, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 2},
			Gang{{"ps", Server, 2}, {"worker", Worker, 2}},
		},
		"the last of several worker tasks gives way first": {
			5, minimums{"ps": 1, "trainer": 3, "worker": 3}, counts{"ps": 1, "trainer": 3, "worker": 3},
			Gang{{"ps", Server, 1}, {"trainer", Worker, 3}, {"worker", Worker, 1}},
		},
		"one worker of several tasks is left": {
			1, minimums{"ps": 1, "trainer": 3, "worker": 3}, counts{"ps": 1, "trainer": 3, "worker": 3},
			Gang{{"ps", Server, 1}, {"trainer", Worker, 1}, {"worker", Worker, 0}},
		},
		"a minimum of no worker is one": {
			2, minimums{"ps": 2, "worker": 0}, counts{"ps": 2, "worker": 2},
			Gang{{"ps", Server, 2}, {"worker", Worker, 1}},
		},
		"no worker at all": {
			1, minimums{"ps": 2}, counts{"ps": 2}, Gang{{"ps", Server, 2}},
		},
		"nothing declared: servers whole, the rest workers": {
			3, nil, counts{"ps": 2, "worker": 4}, Gang{{"ps", Server, 2}, {"worker", Worker, 1}},
		},
		"nothing declared, others are whole too": {
			5, nil, counts{"heter": 1, "worker": 4, "board": 1},
			Gang{{"heter", Heter, 1}, {"worker", Worker, 3}, {"board", Other, 1}},
		},
		"no pod of a task yet": {
			4, minimums{"ps": 2, "worker": 2}, counts{"worker": 2},
			Gang{{"ps", Server, 2}, {"worker", Worker, 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, NewGang(jobInfo(test.minMember, test.minTaskMember, test.pods), defaultTaskRoles))
		})
	}
}

// A pod that failed or is ending has been, or will be, made again.
func TestNewGang_ReplacedPods(t *testing.T) {
	job := jobInfo(3, nil, map[string]int{"ps": 6})
	for name, status := range map[string]api.TaskStatus{
		"job-ps-0": api.Running, "job-ps-1": api.Succeeded, "job-ps-2": api.Pending, "job-ps-3": api.Releasing, "job-ps-4": api.Failed,
		"job-ps-5": api.Unknown,
	} {
		for _, task := range job.Tasks {
			if task.Name == name {
				require.NoError(t, job.UpdateTaskStatus(task, status))
			}
		}
	}
	require.Equal(t, Gang{{"ps", Server, 3}}, NewGang(job, defaultTaskRoles))
}

// Pods of one task that say different things count as one group, and always the same one.
func TestNewGang_PodsThatDisagree(t *testing.T) {
	for range 20 { // map order
		job := jobInfo(2, map[string]int32{"a": 2}, nil)
		for i, pod := range plainPods("a", 2, nothing) {
			pod.Labels[ResourceTypeLabel] = []string{"worker", "ps"}[i]
			job.AddTaskInfo(api.NewTaskInfo(pod))
		}
		require.Equal(t, Gang{{"a", Server, 2}}, NewGang(job, defaultTaskRoles))
	}
}

// A user's own PodGroup declares all that it needs: pods of other tasks count for minMember.
func TestNewGang_PodGroupOfAUser(t *testing.T) {
	for name, test := range map[string]struct {
		minTaskMember map[string]int32
		want          Gang
	}{
		"nothing declared": {nil, Gang{{"ps", Server, 0}, {"worker", Worker, 0}}},
		"servers declared": {map[string]int32{"ps": 2}, Gang{{"ps", Server, 2}, {"worker", Worker, 1}}},
		"workers declared": {map[string]int32{"worker": 4}, Gang{{"ps", Server, 0}, {"worker", Worker, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(3, test.minTaskMember, map[string]int{"ps": 2, "worker": 4})
			job.PodGroup.OwnerReferences = nil
			g := NewGang(job, defaultTaskRoles)
			require.Equal(t, test.want, g)
			g.Apply(job, defaultTaskRoles)
			require.Equal(t, int32(3), job.MinAvailable)
			require.Equal(t, test.want, NewGang(job, defaultTaskRoles), "a gang that is held is worked out the same")
		})
	}
}

func TestApply(t *testing.T) {
	job := jobInfo(1, map[string]int32{"ps": 2, "worker": 2}, map[string]int{"ps": 2, "worker": 2})
	NewGang(job, defaultTaskRoles).Apply(job, defaultTaskRoles)
	require.Equal(t, map[string]int32{"ps": 2, "worker": 1}, job.TaskMinAvailable)
	require.Equal(t, int32(3), job.TaskMinAvailableTotal)
	require.Equal(t, int32(3), job.MinAvailable)
	require.Equal(t, int32(3), job.SubJobs[job.DefaultSubJobID()].MinAvailable)
	require.Equal(t, int32(1), job.PodGroup.Spec.MinMember, "the user's own number stays")

	job = jobInfo(4, map[string]int32{"ps": 1, "worker": 2}, map[string]int{"ps": 1, "worker": 4})
	NewGang(job, defaultTaskRoles).Apply(job, defaultTaskRoles)
	require.Equal(t, int32(4), job.MinAvailable, "minMember above the sum holds as well")
}

// Workers beyond their minimum make up for no server.
func TestEffectiveMinimum(t *testing.T) {
	for name, test := range map[string]struct {
		running map[string]bool
		want    int32
	}{
		"nothing runs":             {nil, 4},
		"workers only":             {map[string]bool{"job-worker-0": true, "job-worker-1": true, "job-worker-2": true}, 5},
		"a part of each":           {map[string]bool{"job-ps-0": true, "job-worker-0": true}, 4},
		"whole, and a worker more": {map[string]bool{"job-ps-0": true, "job-ps-1": true, "job-worker-0": true, "job-worker-1": true, "job-worker-2": true}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 4})
			for _, task := range job.Tasks {
				if test.running[task.Name] {
					require.NoError(t, job.UpdateTaskStatus(task, api.Running))
				}
			}
			gang := NewGang(job, defaultTaskRoles)
			require.Equal(t, test.want, gang.EffectiveMinimum(job))
			gang.Apply(job, defaultTaskRoles)
			require.Equal(t, test.want, job.MinAvailable)
		})
	}
}

// A sub job of the user's own keeps its size.
func TestApply_LeavesSubJobs(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{Spec: scheduling.PodGroupSpec{
		MinMember: 1, MinTaskMember: twoTwo,
		SubGroupPolicy: []scheduling.SubGroupPolicySpec{{Name: "parts", MatchLabelKeys: []string{"part"}}},
	}}})
	for _, pod := range append(plainPods("ps", 2, nothing), plainPods("worker", 2, nothing)...) {
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	before := job.SubJobs[job.DefaultSubJobID()].MinAvailable
	NewGang(job, defaultTaskRoles).Apply(job, defaultTaskRoles)
	require.Equal(t, before, job.SubJobs[job.DefaultSubJobID()].MinAvailable)
	require.Equal(t, int32(3), job.MinAvailable)
}

// Every condition of Volcano's gang is checked on a gang that is applied.
func TestReady(t *testing.T) {
	made := func(status api.TaskStatus, change func(*api.JobInfo)) *api.JobInfo {
		job := jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 4})
		NewGang(job, defaultTaskRoles).Apply(job, defaultTaskRoles)
		for _, task := range job.Tasks {
			task.BestEffort = false // as standIns do
			task.InitResreq.Memory = PlaceholderMemory
			if task.TaskRole == "ps" || task.Name < "job-worker-2" {
				require.NoError(t, job.UpdateTaskStatus(task, status))
			}
		}
		change(job)
		return job
	}
	tooFewServers := func(job *api.JobInfo) {
		for _, task := range job.Tasks {
			if status := task.Status; task.TaskRole == "ps" {
				require.NoError(t, job.UpdateTaskStatus(task, api.Pending))
			} else if status == api.Pending {
				require.NoError(t, job.UpdateTaskStatus(task, api.Running))
			}
		}
	}
	for name, test := range map[string]struct {
		status           api.TaskStatus
		change           func(*api.JobInfo)
		ready, pipelined bool
	}{
		"all minimums run":               {api.Running, func(*api.JobInfo) {}, true, true},
		"all minimums have ended":        {api.Succeeded, func(*api.JobInfo) {}, true, true},
		"all minimums wait for capacity": {api.Pipelined, func(*api.JobInfo) {}, false, true},
		"enough pods, no server":         {api.Running, tooFewServers, false, false},
		"roles, but not minMember":       {api.Running, func(job *api.JobInfo) { job.MinAvailable = 5 }, false, false},
		"a sub group is missing":         {api.Running, func(job *api.JobInfo) { job.MinSubJobs["ns/job/parts"] = 1 }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			job := made(test.status, test.change)
			require.Equal(t, test.ready, Ready(job))
			require.Equal(t, test.pipelined, Pipelined(job))
		})
	}
}

// Pods that no Volcano Job made are counted by their role.
func TestApply_NamesTasksOfPodsWithoutJob(t *testing.T) {
	job := jobInfo(2, nil, nil)
	for _, name := range []string{"ps", "worker", ""} {
		pod := one(label(ResourceTypeLabel, name))
		pod.UID = types.UID(name)
		delete(pod.Annotations, batch.TaskSpecKey)
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	NewGang(job, defaultTaskRoles).Apply(job, defaultTaskRoles)
	for id, task := range job.Tasks {
		require.Equal(t, string(id), task.TaskRole)
	}
}
