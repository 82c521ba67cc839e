// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	batch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// jobInfo is a job as a session gets it; pods is how many pods each task has.
func jobInfo(minMember int32, minTaskMember map[string]int32, pods map[string]int) *api.JobInfo {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: ownedBy(kindVolcanoJob, "job")},
		Spec:       scheduling.PodGroupSpec{MinMember: minMember, MinTaskMember: minTaskMember},
	}})
	for task, n := range pods {
		for _, pod := range plainPods("job", task, n, nothing) {
			job.AddTaskInfo(api.NewTaskInfo(pod).Clone()) // a copy, as in a session
		}
	}
	return job
}

func TestNewGang(t *testing.T) {
	type counts = map[string]int
	type minimums = map[string]int32
	for name, test := range map[string]struct {
		minMember     int32
		minTaskMember minimums
		pods          counts
		want          gang
	}{
		"minMember is the sum": {
			4, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 2},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 2}},
		},
		"minMember above the sum changes no role": {
			6, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 6},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 2}},
		},
		"workers give way": {
			5, minimums{"ps": 2, "worker": 8}, counts{"ps": 2, "worker": 8},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 3}},
		},
		"servers do not, and one worker is left": {
			1, minimums{"ps": 2, "worker": 8}, counts{"ps": 2, "worker": 8},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 1}},
		},
		"nor heter workers, nor what else is in the job": {
			5, minimums{"ps": 1, "heter": 2, "worker": 4, "board": 1}, counts{"ps": 1, "heter": 2, "worker": 4, "board": 1},
			gang{{"ps", roleServer, 1}, {"heter", roleHeter, 2}, {"worker", roleWorker, 1}, {"board", roleOther, 1}},
		},
		"collective": {
			3, minimums{"worker": 8}, counts{"worker": 8}, gang{{"worker", roleWorker, 3}},
		},
		"unset minMember lowers nothing": {
			0, minimums{"ps": 2, "worker": 2}, counts{"ps": 2, "worker": 2},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 2}},
		},
		"the last of several worker tasks gives way first": {
			5, minimums{"ps": 1, "trainer": 3, "worker": 3}, counts{"ps": 1, "trainer": 3, "worker": 3},
			gang{{"ps", roleServer, 1}, {"trainer", roleWorker, 3}, {"worker", roleWorker, 1}},
		},
		"one worker of several tasks is left": {
			1, minimums{"ps": 1, "trainer": 3, "worker": 3}, counts{"ps": 1, "trainer": 3, "worker": 3},
			gang{{"ps", roleServer, 1}, {"trainer", roleWorker, 1}, {"worker", roleWorker, 0}},
		},
		"a minimum of no worker is one": {
			2, minimums{"ps": 2, "worker": 0}, counts{"ps": 2, "worker": 2},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 1}},
		},
		"no worker at all": {
			1, minimums{"ps": 2}, counts{"ps": 2}, gang{{"ps", roleServer, 2}},
		},
		"nothing declared: servers whole, the rest workers": {
			3, nil, counts{"ps": 2, "worker": 4}, gang{{"ps", roleServer, 2}, {"worker", roleWorker, 1}},
		},
		"nothing declared, others are whole too": {
			5, nil, counts{"heter": 1, "worker": 4, "board": 1},
			gang{{"heter", roleHeter, 1}, {"worker", roleWorker, 3}, {"board", roleOther, 1}},
		},
		"no pod of a task yet": {
			4, minimums{"ps": 2, "worker": 2}, counts{"worker": 2},
			gang{{"ps", roleServer, 2}, {"worker", roleWorker, 2}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, newGang(jobInfo(test.minMember, test.minTaskMember, test.pods), defaultTaskRoles))
		})
	}
}

// A pod that failed or is ending has been, or will be, made again.
func TestNewGangOfPodsThatAreReplaced(t *testing.T) {
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
	require.Equal(t, gang{{"ps", roleServer, 3}}, newGang(job, defaultTaskRoles))
}

// Pods of one task that say different things count as one group, and always the same one.
func TestNewGangOfPodsThatDisagree(t *testing.T) {
	for range 20 { // map order
		job := jobInfo(2, map[string]int32{"a": 2}, nil)
		for i, pod := range plainPods("job", "a", 2, nothing) {
			pod.Labels[resourceTypeLabel] = []string{"worker", "ps"}[i]
			job.AddTaskInfo(api.NewTaskInfo(pod))
		}
		require.Equal(t, gang{{"a", roleServer, 2}}, newGang(job, defaultTaskRoles))
	}
}

// A user's own PodGroup declares all that it needs: pods of other tasks count for minMember.
func TestNewGangOfAUsersPodGroup(t *testing.T) {
	for name, test := range map[string]struct {
		minTaskMember map[string]int32
		want          gang
	}{
		"nothing declared": {nil, gang{{"ps", roleServer, 0}, {"worker", roleWorker, 0}}},
		"servers declared": {map[string]int32{"ps": 2}, gang{{"ps", roleServer, 2}, {"worker", roleWorker, 1}}},
		"workers declared": {map[string]int32{"worker": 4}, gang{{"ps", roleServer, 0}, {"worker", roleWorker, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			job := jobInfo(3, test.minTaskMember, map[string]int{"ps": 2, "worker": 4})
			job.PodGroup.OwnerReferences = nil
			g := newGang(job, defaultTaskRoles)
			require.Equal(t, test.want, g)
			g.hold(job, defaultTaskRoles)
			require.Equal(t, int32(3), job.MinAvailable)
			require.Equal(t, test.want, newGang(job, defaultTaskRoles), "a gang that is held is worked out the same")
		})
	}
}

func TestHold(t *testing.T) {
	job := jobInfo(1, map[string]int32{"ps": 2, "worker": 2}, map[string]int{"ps": 2, "worker": 2})
	newGang(job, defaultTaskRoles).hold(job, defaultTaskRoles)
	require.Equal(t, map[string]int32{"ps": 2, "worker": 1}, job.TaskMinAvailable)
	require.Equal(t, int32(3), job.TaskMinAvailableTotal)
	require.Equal(t, int32(3), job.MinAvailable)
	require.Equal(t, int32(3), job.SubJobs[job.DefaultSubJobID()].MinAvailable)
	require.Equal(t, int32(1), job.PodGroup.Spec.MinMember, "the user's own number stays")

	job = jobInfo(4, map[string]int32{"ps": 1, "worker": 2}, map[string]int{"ps": 1, "worker": 4})
	newGang(job, defaultTaskRoles).hold(job, defaultTaskRoles)
	require.Equal(t, int32(4), job.MinAvailable, "minMember above the sum holds as well")
}

// Workers beyond their minimum make up for no server.
func TestMembers(t *testing.T) {
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
			gang := newGang(job, defaultTaskRoles)
			require.Equal(t, test.want, gang.members(job))
			gang.hold(job, defaultTaskRoles)
			require.Equal(t, test.want, job.MinAvailable)
		})
	}
}

// A sub job of the user's own keeps its size.
func TestHoldLeavesSubJobs(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	job.SetPodGroup(&api.PodGroup{PodGroup: scheduling.PodGroup{Spec: scheduling.PodGroupSpec{
		MinMember: 1, MinTaskMember: twoTwo,
		SubGroupPolicy: []scheduling.SubGroupPolicySpec{{Name: "parts", MatchLabelKeys: []string{"part"}}},
	}}})
	for _, pod := range append(plainPods("job", "ps", 2, nothing), plainPods("job", "worker", 2, nothing)...) {
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	before := job.SubJobs[job.DefaultSubJobID()].MinAvailable
	newGang(job, defaultTaskRoles).hold(job, defaultTaskRoles)
	require.Equal(t, before, job.SubJobs[job.DefaultSubJobID()].MinAvailable)
	require.Equal(t, int32(3), job.MinAvailable)
}

// Every condition of Volcano's gang is asked of a gang that is held.
func TestReady(t *testing.T) {
	made := func(status api.TaskStatus, change func(*api.JobInfo)) *api.JobInfo {
		job := jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 4})
		newGang(job, defaultTaskRoles).hold(job, defaultTaskRoles)
		for _, task := range job.Tasks {
			task.BestEffort = false // as standIns do
			task.InitResreq.Memory = standIn
			if task.TaskRole == "ps" || task.Name < "job-worker-2" {
				require.NoError(t, job.UpdateTaskStatus(task, status))
			}
		}
		change(job)
		return job
	}
	fewServers := func(job *api.JobInfo) {
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
		"all minimums run":           {api.Running, func(*api.JobInfo) {}, true, true},
		"all minimums have ended":    {api.Succeeded, func(*api.JobInfo) {}, true, true},
		"all minimums wait for room": {api.Pipelined, func(*api.JobInfo) {}, false, true},
		"enough pods, no server":     {api.Running, fewServers, false, false},
		"roles, but not minMember":   {api.Running, func(job *api.JobInfo) { job.MinAvailable = 5 }, false, false},
		"a sub group is missing":     {api.Running, func(job *api.JobInfo) { job.MinSubJobs["ns/job/parts"] = 1 }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			job := made(test.status, test.change)
			require.Equal(t, test.ready, ready(job))
			require.Equal(t, test.pipelined, pipelined(job))
		})
	}
}

// Pods that no Volcano Job made are counted by their role.
func TestHoldNamesTasksOfPodsWithoutJob(t *testing.T) {
	job := jobInfo(2, nil, nil)
	for _, name := range []string{"ps", "worker", ""} {
		pod := one(label(resourceTypeLabel, name))
		pod.UID = types.UID(name)
		delete(pod.Annotations, batch.TaskSpecKey)
		job.AddTaskInfo(api.NewTaskInfo(pod))
	}
	newGang(job, defaultTaskRoles).hold(job, defaultTaskRoles)
	for id, task := range job.Tasks {
		require.Equal(t, string(id), task.TaskRole)
	}
}
