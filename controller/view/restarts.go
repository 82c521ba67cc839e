// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// defaultBackoffLimit is what an unset backoffLimit means.
const defaultBackoffLimit int32 = 2

// RestartsPods reports whether a worker that fails is started again alone: no policy of the whole Volcano Job restarts the
// gang for it.
func RestartsPods(job *vcbatch.Job) bool { return len(job.Spec.Policies) == 0 }

// EarlierRestarts is how often the gang was restarted under Volcano Jobs that this one replaced.
func EarlierRestarts(job *vcbatch.Job) int32 { return counted(job, keys.EarlierRestarts) }

// Recreations is how many Volcano Jobs were made for the PaddleJob before this one.
func Recreations(job *vcbatch.Job) int32 { return counted(job, keys.Recreations) }

func counted(job *vcbatch.Job, key string) int32 {
	count, err := strconv.ParseInt(job.Annotations[key], 10, 32)
	if err != nil || count < 0 {
		return 0
	}
	return int32(count)
}

// Restarts is how often the gang was started again, under this Volcano Job and those that it replaced.
func Restarts(job *vcbatch.Job) int32 { return EarlierRestarts(job) + job.Status.RetryCount }

// RestartCounted reports whether the status has counted already the restart that follows the present attempt.
func (v *View) RestartCounted() bool { return v.Job.Status.Restarts > Restarts(v.VolcanoJob) }

// FailureNumber is the number of the failure of a worker that is started again alone; false if it has none yet.
func FailureNumber(pod *corev1.Pod) (int32, bool) {
	number, err := strconv.ParseInt(pod.Annotations[keys.Failure], 10, 32)
	return int32(number), err == nil && number > 0
}

// BackoffLimit is how many failures are followed by another start.
func (v *View) BackoffLimit() int32 {
	if run := v.Job.Spec.RunPolicy; run != nil && run.BackoffLimit != nil {
		return *run.BackoffLimit
	}
	return defaultBackoffLimit
}

// FailedByItself reports whether the present attempt ended by a failure of the program that is not counted yet. Volcano keeps
// pods that have failed when it stops a gang: where none is left, the pod that failed was being deleted.
func (v *View) FailedByItself() bool {
	return !v.RestartCounted() && v.FailureSeen() && !v.Disrupted() && !v.countedAlone()
}

// countedAlone reports whether the status has counted every failure of the present attempt as one of a worker that is started
// again alone. The controller deletes no pod before its failure is counted.
func (v *View) countedAlone() bool {
	if !RestartsPods(v.VolcanoJob) {
		return false
	}
	for _, m := range v.Members() {
		if number, ok := FailureNumber(m.Pod); m.FailedItself() && (!ok || number > v.Job.Status.Failures) {
			return false
		}
	}
	return v.Job.Status.Failures > 0
}

// LastFailure reports whether the present attempt ended by a failure after which the gang is not started again.
func (v *View) LastFailure() bool {
	if !v.FailedByItself() {
		return false
	}
	_, _, permanent := v.PermanentExit()
	return permanent || v.Job.Status.Failures >= v.BackoffLimit()
}

// EndedTogether reports whether Volcano has failed a Job whose restarts the controller decides on. It does where all pods of
// a gang end before it has looked at the first of them: it counts them before it asks what a failure is followed by
// (runningState.Execute in volcano/pkg/controllers/job/state/running.go, v1.14.1).
func (v *View) EndedTogether() bool {
	job := v.VolcanoJob
	return job != nil && job.Status.State.Phase == vcbatch.Failed && job.Status.RetryCount < job.Spec.MaxRetry && !Finished(v.Job)
}

// Unretried reports whether Volcano has failed a Job that is to be started again.
func (v *View) Unretried() bool { return v.EndedTogether() && !v.LastFailure() }

// PermanentExit is the first pod that failed with one of the exit codes after which the job is not started again.
func (v *View) PermanentExit() (pod string, code int32, ok bool) {
	run := v.Job.Spec.RunPolicy
	if run == nil {
		return "", 0, false
	}
	for _, m := range v.Members() {
		if _, disrupted := Disruption(m.Pod); !m.FailedItself() || disrupted {
			continue
		}
		for _, statuses := range [][]corev1.ContainerStatus{m.Pod.Status.InitContainerStatuses, m.Pod.Status.ContainerStatuses} {
			for i := range statuses {
				if end := statuses[i].State.Terminated; end != nil && slices.Contains(run.PermanentExitCodes, end.ExitCode) {
					return m.Pod.Name, end.ExitCode, true
				}
			}
		}
	}
	return "", 0, false
}
