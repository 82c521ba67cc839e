// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"strconv"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// errEnded is why a worker of a job that has begun to end is not started.
var errEnded = errors.New("a worker of this job has succeeded: the job is ending, and no more workers are started")

// ended tells whether a pod must not be bound any more, because its job has begun to end: a worker that came now would
// wait for peers that have left. With servers workers do not wait for each other, so one that starts again alone after a
// failure comes back to do its share.
func ended(job *api.JobInfo, task *api.TaskInfo, taskRoles map[string]role) bool {
	if _, role := taskName(task, taskRoles); role != roleWorker {
		return false
	}
	first := firstSuccess(job, taskRoles)
	return first != nil && (!servesWorkers(job, taskRoles) || !startedAgain(task, first))
}

// startedAgain reports whether a pod was made in the place of one that was lost, and not together with one that has succeeded: it
// is of a later attempt, or was created after that one had started.
func startedAgain(task, succeeded *api.TaskInfo) bool {
	start := succeeded.Pod.Status.StartTime
	return attempt(task) > attempt(succeeded) || start != nil && !task.Pod.CreationTimestamp.Before(start)
}

// firstSuccess is a worker that has succeeded, of the earliest attempt and of those the one that started first; nil if none has.
func firstSuccess(job *api.JobInfo, taskRoles map[string]role) (first *api.TaskInfo) {
	for _, task := range job.TaskStatusIndex[api.Succeeded] {
		if _, role := taskName(task, taskRoles); role != roleWorker {
			continue
		}
		if first == nil || attempt(task) < attempt(first) ||
			attempt(task) == attempt(first) && task.Pod.Status.StartTime.Before(first.Pod.Status.StartTime) {
			first = task
		}
	}
	return first
}

// attempt is how often a job had been started again when Volcano made a pod.
func attempt(task *api.TaskInfo) int {
	n, err := strconv.Atoi(task.Pod.Annotations[vcbatch.JobRetryCountKey])
	if err != nil {
		return 0
	}
	return n
}

func servesWorkers(job *api.JobInfo, taskRoles map[string]role) bool {
	for _, task := range job.Tasks {
		if _, role := taskName(task, taskRoles); role == roleServer {
			return true
		}
	}
	return false
}

// letEnd lets a gang end: it needs no more workers than are there, so that other pods that were lost still come back, and
// those that wait are told why. It is to be called before gang.hold.
func (g gang) letEnd(job *api.JobInfo, taskRoles map[string]role) {
	if firstSuccess(job, taskRoles) == nil {
		return
	}
	there := map[string]int32{}
	for _, task := range job.Tasks {
		name, role := taskName(task, taskRoles)
		switch {
		case occupies(task.Status):
			there[name]++
		case role != roleWorker || task.Status != api.Pending:
		case ended(job, task, taskRoles):
			refuseEnded(job, task)
		default:
			there[name]++ // it is started again
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
