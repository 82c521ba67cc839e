// SPDX-License-Identifier: Apache-2.0

package job

import (
	"volcano.sh/volcano/pkg/scheduler/api"
)

// PlaceholderMemory is the placeholder request, in bytes of memory, of pods of Paddle jobs that request nothing. It is the
// least that Volcano does not treat as empty, rounded up to a byte.
const PlaceholderMemory = 1

// BestEffortRequests makes pods without requests members of their gang.
//
// Volcano calls such pods BestEffort: allocate skips them, the gang counts them as ready while they are pending, and
// backfill binds them one by one. Two requests of a task in the session (which has copies: binding and the cache keep the
// real ones) are therefore not left empty:
//
//   - InitResreq, by which the gang's arithmetic recognizes BestEffort and by which a node is tested for capacity, holds the
//     placeholder for the whole session. Each node gets as much idle memory more, so that a node that is requested to the
//     last byte still takes the pod.
//   - Resreq, which is what nodes and queues account, is never accounted with the placeholder: else a queue whose quota is
//     just the gang's demand would refuse the gang. It holds the placeholder only while allocate chooses the tasks that it
//     will place, between JobValid of the job and Overused of the first queue, and nothing is accounted in between. The
//     job's TotalRequest holds it for as long, because UpdateTaskStatus subtracts one from the other.
type BestEffortRequests struct {
	tasks map[api.JobID][]api.TaskID // pending tasks without requests that are not gated
	shown map[api.JobID][]api.TaskID // those of them whose Resreq holds the placeholder
}

// NewBestEffortRequests returns an empty set.
func NewBestEffortRequests() *BestEffortRequests {
	return &BestEffortRequests{tasks: map[api.JobID][]api.TaskID{}, shown: map[api.JobID][]api.TaskID{}}
}

// IsPlaceholder reports whether a task requests nothing but the placeholder.
func IsPlaceholder(task *api.TaskInfo) bool {
	return task.InitResreq.Memory == PlaceholderMemory && task.InitResreq.MilliCPU == 0 && len(task.InitResreq.ScalarResources) == 0
}

// Add makes the pending tasks of a job that request nothing members of its gang.
func (s *BestEffortRequests) Add(job *api.JobInfo) {
	for _, task := range job.TaskStatusIndex[api.Pending] {
		if !task.BestEffort {
			continue
		}
		task.BestEffort = false
		task.InitResreq.Memory += PlaceholderMemory
		if !task.SchGated {
			s.tasks[job.UID] = append(s.tasks[job.UID], task.UID)
		}
	}
}

// AddHeadroom gives each node the idle memory that the tasks' placeholders are tested against.
func (s *BestEffortRequests) AddHeadroom(nodes map[string]*api.NodeInfo) {
	if len(s.tasks) == 0 {
		return
	}
	for _, node := range nodes {
		node.Idle.Memory += PlaceholderMemory
	}
}

// Apply puts the placeholder into Resreq of the job's tasks that are still pending.
func (s *BestEffortRequests) Apply(job *api.JobInfo) {
	if _, shown := s.shown[job.UID]; shown {
		return
	}
	for _, id := range s.tasks[job.UID] {
		if task := job.Tasks[id]; task.Status == api.Pending {
			task.Resreq.Memory += PlaceholderMemory
			job.TotalRequest.Memory += PlaceholderMemory
			s.shown[job.UID] = append(s.shown[job.UID], id)
		}
	}
}

// Remove takes the placeholder out of every Resreq that holds it.
func (s *BestEffortRequests) Remove(jobs map[api.JobID]*api.JobInfo) {
	for jobID, ids := range s.shown {
		job := jobs[jobID]
		for _, id := range ids {
			job.Tasks[id].Resreq.Memory -= PlaceholderMemory
			job.TotalRequest.Memory -= PlaceholderMemory
		}
	}
	clear(s.shown)
}
