// SPDX-License-Identifier: Apache-2.0

package job

import (
	"errors"
	"strconv"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// ErrCompleting is why a worker of a job that has begun to complete is not started.
var ErrCompleting = errors.New("a worker of this job has succeeded: the job is ending, and no more workers are started")

// IsCompleting reports whether a pending worker must not be bound, because its job has begun to complete: it would wait for
// peers that have left. With servers, workers do not wait for each other, so a worker that starts again alone is bound.
func IsCompleting(job *api.JobInfo, task *api.TaskInfo, roles RoleMap) bool {
	if _, role := TaskName(task, roles); role != Worker {
		return false
	}
	first := firstSuccess(job, roles)
	return first != nil && (!servesWorkers(job, roles) || !startedAgain(task, first))
}

// startedAgain reports whether a pod replaces one that was lost, and was not created together with one that has succeeded: it
// is of a later attempt, or was created after that one had started.
func startedAgain(task, succeeded *api.TaskInfo) bool {
	start := succeeded.Pod.Status.StartTime
	return attempt(task) > attempt(succeeded) || start != nil && !task.Pod.CreationTimestamp.Before(start)
}

// firstSuccess is a worker that has succeeded, of the earliest attempt and of those the one that started first; nil if none has.
func firstSuccess(job *api.JobInfo, roles RoleMap) (first *api.TaskInfo) {
	for _, task := range job.TaskStatusIndex[api.Succeeded] {
		if _, role := TaskName(task, roles); role != Worker {
			continue
		}
		if first == nil || attempt(task) < attempt(first) ||
			attempt(task) == attempt(first) && task.Pod.Status.StartTime.Before(first.Pod.Status.StartTime) {
			first = task
		}
	}
	return first
}

// attempt returns how often a job had been started again when Volcano made a pod.
func attempt(task *api.TaskInfo) int {
	n, _ := strconv.Atoi(task.Pod.Annotations[vcbatch.JobRetryCountKey])
	return n
}

func servesWorkers(job *api.JobInfo, roles RoleMap) bool {
	for _, task := range job.Tasks {
		if _, role := TaskName(task, roles); role == Server {
			return true
		}
	}
	return false
}

// RelaxForCompletion lowers the minimum of workers to those that exist where the job has begun to complete, so that other
// pods that were lost still come back. It records why the others are refused. It is called before Apply.
func (g Gang) RelaxForCompletion(job *api.JobInfo, roles RoleMap) {
	if firstSuccess(job, roles) == nil {
		return
	}
	there := map[string]int32{}
	for _, task := range job.Tasks {
		name, role := TaskName(task, roles)
		switch {
		case Occupies(task.Status):
			there[name]++
		case role != Worker || task.Status != api.Pending:
		case IsCompleting(job, task, roles):
			RefuseCompleting(job, task)
		default:
			there[name]++ // it is started again
		}
	}
	for i := range g {
		if g[i].Role == Worker {
			g[i].Min = min(g[i].Min, there[g[i].Task])
		}
	}
	job.MinAvailable = min(job.MinAvailable, g.Total())
}

// RefuseCompleting records ErrCompleting where Volcano reads the message of the pod's condition.
func RefuseCompleting(job *api.JobInfo, task *api.TaskInfo) {
	refused := api.NewFitErrors()
	refused.SetError(ErrCompleting.Error())
	job.NodesFitErrors[task.UID] = refused
}
