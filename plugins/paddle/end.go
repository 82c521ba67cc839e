// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"
)

// errEnded is why a worker of a job that has begun to end is not started.
var errEnded = errors.New("a worker of this job has succeeded: the job is ending, and no more workers are started")

// workerSucceeded tells whether a job has begun to end.
func workerSucceeded(job *api.JobInfo, taskRoles map[string]role) bool {
	for _, task := range job.TaskStatusIndex[api.Succeeded] {
		if _, role := taskName(task, taskRoles); role == roleWorker {
			return true
		}
	}
	return false
}

// ended tells whether a pod must not be bound any more, because its job has begun to end: a worker that came now would
// wait for peers that have left.
func ended(job *api.JobInfo, task *api.TaskInfo, taskRoles map[string]role) bool {
	if !workerSucceeded(job, taskRoles) {
		return false
	}
	_, role := taskName(task, taskRoles)
	return role == roleWorker
}

// letEnd lets a gang end: it needs no more workers than are there, so that other pods that were lost still come back, and
// those that wait are told why. It is to be called before gang.hold.
func (g gang) letEnd(job *api.JobInfo, taskRoles map[string]role) {
	if !workerSucceeded(job, taskRoles) {
		return
	}
	there := map[string]int32{}
	for _, task := range job.Tasks {
		name, role := taskName(task, taskRoles)
		switch {
		case occupies(task.Status):
			there[name]++
		case role == roleWorker && task.Status == api.Pending:
			refuseEnded(job, task)
		}
	}
	for i := range g {
		if g[i].role == roleWorker {
			g[i].min = min(g[i].min, there[g[i].task])
		}
	}
	job.MinAvailable = min(job.MinAvailable, g.total())
}

// endAllocatable refuses workers of jobs that have begun to end, in allocate and preempt.
func (p *plugin) endAllocatable(_ *api.QueueInfo, task *api.TaskInfo) bool {
	if p.endPrePredicate(task) == nil {
		return true
	}
	refuseEnded(p.ssn.Jobs[task.Job], task) // once more: allocate resets what it found in another HyperNode
	return false
}

// refuseEnded writes why a worker is not started to where Volcano takes it from for the pod's condition.
func refuseEnded(job *api.JobInfo, task *api.TaskInfo) {
	refused := api.NewFitErrors()
	refused.SetError(errEnded.Error())
	job.NodesFitErrors[task.UID] = refused
}

// endPrePredicate refuses them in every action.
func (p *plugin) endPrePredicate(task *api.TaskInfo) error {
	if job, _, ok := p.gang(p.ssn.Jobs[task.Job]); ok && ended(job, task, p.arguments.taskRoles) {
		return errEnded
	}
	return nil
}
