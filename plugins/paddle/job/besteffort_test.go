// SPDX-License-Identifier: Apache-2.0

package job

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
	"volcano.sh/volcano/pkg/scheduler/util"
)

func TestBestEffortRequests(t *testing.T) {
	job := api.NewJobInfo("ns/job")
	add := func(name string, requests resources, status api.TaskStatus, gated bool) *api.TaskInfo {
		task := api.NewTaskInfo(plainPods(name, 1, requests)[0]).Clone() // a copy, as in a session
		task.Status = status
		task.SchGated = gated
		job.AddTaskInfo(task)
		return task
	}
	pending := add("pending", nothing, api.Pending, false)
	later := add("later", nothing, api.Pending, false)
	gated := add("gated", nothing, api.Pending, true)
	running := add("running", nothing, api.Running, false)
	asking := add("asking", oneCPU, api.Pending, false)
	jobs := map[api.JobID]*api.JobInfo{job.UID: job}
	total := job.TotalRequest.Clone()

	s := NewBestEffortRequests()
	s.Add(job)
	for _, task := range []*api.TaskInfo{pending, later, gated} {
		require.False(t, task.BestEffort, "%s is pending, not ready", task.Name)
		require.False(t, task.InitResreq.IsEmpty(), "%s is pending, not ready", task.Name)
		require.True(t, task.Resreq.IsEmpty(), "nothing is accounted for %s", task.Name)
	}
	require.True(t, running.InitResreq.IsEmpty(), "it is ready with any request")
	require.Equal(t, asking.Resreq, asking.InitResreq)

	// allocate chooses: twice, as InitCycleState calls as well
	s.Apply(job)
	s.Apply(job)
	require.False(t, pending.Resreq.IsEmpty())
	require.True(t, gated.Resreq.IsEmpty(), "allocate does not place it")
	require.InDelta(t, total.Memory+2*PlaceholderMemory, job.TotalRequest.Memory, 0)
	s.Remove(jobs)
	s.Remove(jobs)
	require.True(t, pending.Resreq.IsEmpty())
	require.Equal(t, total, job.TotalRequest)

	// one pod is placed, and an action calls again
	require.NoError(t, job.UpdateTaskStatus(later, api.Allocated))
	s.Apply(job)
	require.False(t, pending.Resreq.IsEmpty())
	require.True(t, later.Resreq.IsEmpty(), "what is placed is accounted as it is")
	s.Remove(jobs)
	require.Equal(t, total, job.TotalRequest)
}

// Nodes change only while there is a pod to change them for.
func TestAddHeadroom(t *testing.T) {
	nodes := map[string]*api.NodeInfo{"n1": api.NewNodeInfo(util.BuildNode("n1", oneCPU.list(), nil))}
	before := nodes["n1"].Idle.Memory
	s := NewBestEffortRequests()
	s.AddHeadroom(nodes)
	require.InDelta(t, before, nodes["n1"].Idle.Memory, 0)

	job := api.NewJobInfo("ns/job")
	job.AddTaskInfo(api.NewTaskInfo(plainPods("ps", 1, nothing)[0]).Clone())
	s.Add(job)
	s.AddHeadroom(nodes)
	require.InDelta(t, before+PlaceholderMemory, nodes["n1"].Idle.Memory, 0)
}
