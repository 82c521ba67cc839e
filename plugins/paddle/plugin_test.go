// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/framework"
)

// opened is a plugin in a session of these jobs.
func opened(t *testing.T, jobs ...*api.JobInfo) *plugin {
	t.Helper()
	p, ok := New(nil).(*plugin)
	require.True(t, ok)
	p.state = p.store.acquire(&p.arguments)
	p.assemble(&framework.Session{Jobs: map[api.JobID]*api.JobInfo{}})
	for _, job := range jobs {
		p.ssn.Jobs[job.UID] = job
		if needsPlanning(job) {
			p.openGang(job)
		}
	}
	return p
}

// paddleJob is a job of two servers and two workers of the given status.
func paddleJob(t *testing.T, name string, status api.TaskStatus) *api.JobInfo {
	t.Helper()
	job := jobInfo(4, twoTwo, nil)
	job.UID = api.JobID(namespace + "/" + name)
	for _, pod := range append(pods(name, "ps", 2, nothing), pods(name, "worker", 2, oneCPU)...) {
		task := api.NewTaskInfo(pod).Clone()
		task.Status = status
		job.AddTaskInfo(task)
	}
	return job
}

// Thousands of jobs run, and nothing is to be decided about them.
func TestConcernsPaddleJobsWithPendingPods(t *testing.T) {
	require.True(t, needsPlanning(paddleJob(t, "job", api.Pending)))
	require.False(t, needsPlanning(paddleJob(t, "job", api.Running)))
	require.False(t, needsPlanning(jobInfo(4, twoTwo, map[string]int{"ps": 2, "worker": 2})))
}

func TestTaskOrderKnowsOneGangAtATime(t *testing.T) {
	a, b := paddleJob(t, "a", api.Pending), paddleJob(t, "b", api.Pending)
	other := jobInfo(4, twoTwo, map[string]int{"worker": 2})
	p := opened(t, a, b, other)
	task := func(job *api.JobInfo, name string) *api.TaskInfo {
		for _, task := range job.Tasks {
			if task.Name == name {
				return task
			}
		}
		require.Failf(t, "no such task", "%s", name)
		return nil
	}
	require.Negative(t, p.taskOrder(task(a, "a-ps-1"), task(a, "a-worker-0")))
	require.Positive(t, p.taskOrder(task(a, "a-worker-0"), task(a, "a-ps-1")))
	require.Zero(t, p.taskOrder(task(a, "a-ps-0"), task(b, "b-worker-0")), "which job goes first is Volcano's to say")
	require.Zero(t, p.taskOrder(task(other, "job-worker-0"), task(other, "job-worker-1")))
	require.Zero(t, p.taskOrder(task(a, "a-ps-0"), "not a task"))
}

// The reason is worked out once for each time that a job was tried.
func TestExplainOnce(t *testing.T) {
	job := paddleJob(t, "job", api.Pending)
	p := opened(t, job)
	job.JobFitErrors = ""
	p.reporter.Tried(job.UID)
	require.False(t, p.overused(nil))
	require.NotEmpty(t, job.JobFitErrors)

	job.JobFitErrors = ""
	require.False(t, p.overused(nil))
	require.Empty(t, job.JobFitErrors)
}
