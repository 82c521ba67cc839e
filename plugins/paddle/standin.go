// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"volcano.sh/volcano/pkg/scheduler/api"
)

// standIn is the request in bytes of memory that stands for "none" in pods of Paddle jobs that request nothing. It is the
// least that Volcano does not take for empty, rounded up to a byte.
const standIn = 1

// standIns lets pods without requests take part in their gang.
//
// Volcano calls such pods BestEffort: allocate skips them, the gang counts them as ready while they are pending, and
// backfill binds them one by one. Two requests of a task in the session (which has copies: binding and the cache keep the
// real ones) are therefore not left empty:
//
//   - InitResreq, by which the gang's arithmetic tells BestEffort and by which a node is tested for room, holds the
//     stand-in for the whole session; each node gets as much idle memory more, so that a node that is requested to the
//     last byte still takes the pod.
//   - Resreq, which is what nodes and queues account, is never accounted with the stand-in: else a queue whose quota is
//     just the gang's demand would refuse the gang. It holds the stand-in only while allocate chooses the tasks that it
//     will place, between JobValid of the job and Overused of the first queue, and nothing is accounted in between. The
//     job's TotalRequest holds it for as long, because UpdateTaskStatus subtracts one from the other.
type standIns struct {
	tasks map[api.JobID][]api.TaskID // pending tasks without requests that are not gated
	shown map[api.JobID][]api.TaskID // those of them whose Resreq holds the stand-in
}

// newStandIns returns an empty set.
func newStandIns() *standIns {
	return &standIns{tasks: map[api.JobID][]api.TaskID{}, shown: map[api.JobID][]api.TaskID{}}
}

// standsIn tells whether all that a task asks for is the stand-in.
func standsIn(task *api.TaskInfo) bool {
	return task.InitResreq.Memory == standIn && task.InitResreq.MilliCPU == 0 && len(task.InitResreq.ScalarResources) == 0
}

// take makes the pending tasks of a job that request nothing members of its gang.
func (s *standIns) take(job *api.JobInfo) {
	for _, task := range job.TaskStatusIndex[api.Pending] {
		if !task.BestEffort {
			continue
		}
		task.BestEffort = false
		task.InitResreq.Memory += standIn
		if !task.SchGated {
			s.tasks[job.UID] = append(s.tasks[job.UID], task.UID)
		}
	}
}

// makeRoom gives each node the idle memory that the tasks' stand-ins are tested against.
func (s *standIns) makeRoom(nodes map[string]*api.NodeInfo) {
	if len(s.tasks) == 0 {
		return
	}
	for _, node := range nodes {
		node.Idle.Memory += standIn
	}
}

// show puts the stand-in into Resreq of the job's tasks that are still pending.
func (s *standIns) show(job *api.JobInfo) {
	if _, shown := s.shown[job.UID]; shown {
		return
	}
	for _, id := range s.tasks[job.UID] {
		if task := job.Tasks[id]; task.Status == api.Pending {
			task.Resreq.Memory += standIn
			job.TotalRequest.Memory += standIn
			s.shown[job.UID] = append(s.shown[job.UID], id)
		}
	}
}

// hide takes the stand-in out of every Resreq that holds it.
func (s *standIns) hide(jobs map[api.JobID]*api.JobInfo) {
	for jobID, ids := range s.shown {
		job := jobs[jobID]
		for _, id := range ids {
			job.Tasks[id].Resreq.Memory -= standIn
			job.TotalRequest.Memory -= standIn
		}
	}
	clear(s.shown)
}
