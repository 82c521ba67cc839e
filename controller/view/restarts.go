// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// defaultBackoffLimit is what an unset backoffLimit means, and what Volcano is told where it counts.
const defaultBackoffLimit int32 = 2

// Delayed says whether a Volcano Job is stopped when a pod fails, for the controller to start it again.
func Delayed(job *vcbatch.Job) bool {
	return slices.ContainsFunc(job.Spec.Policies, func(p vcbatch.LifecyclePolicy) bool {
		return p.Action == vcbus.AbortJobAction
	})
}

// RestartsPods says whether a worker that fails is started again alone.
func RestartsPods(job *vcbatch.Job) bool {
	return slices.ContainsFunc(job.Spec.Tasks, func(task vcbatch.TaskSpec) bool {
		return slices.ContainsFunc(task.Policies, func(p vcbatch.LifecyclePolicy) bool {
			return p.Action == vcbus.RestartPodAction
		})
	})
}

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

// Failures is how often the job has failed and was, or is being, started again, under this Volcano Job and those that it
// replaced. Volcano counts the failure that is the last for it too.
func Failures(job *vcbatch.Job) int32 { return EarlierRestarts(job) + job.Status.RetryCount }

// BackoffLimit is how often the job is started again.
func (v *View) BackoffLimit() int32 {
	if v.VolcanoJob != nil && !Delayed(v.VolcanoJob) {
		return EarlierRestarts(v.VolcanoJob) + max(v.VolcanoJob.Spec.MaxRetry-1, 0)
	}
	if run := v.Job.Spec.RunPolicy; run != nil && run.BackoffLimit != nil {
		return *run.BackoffLimit
	}
	return defaultBackoffLimit
}

// Unretried says whether Volcano has failed a Job that was to be started again. It does where all pods of a gang end before
// it has looked at the first of them: it counts them before it asks what a failure is followed by (runningState.Execute in
// volcano/pkg/controllers/job/state/running.go, v1.14.1).
func (v *View) Unretried() bool {
	job := v.VolcanoJob
	if job == nil || job.Status.State.Phase != vcbatch.Failed || job.Status.RetryCount >= job.Spec.MaxRetry || Finished(v.Job) {
		return false
	}
	_, _, permanent := v.PermanentExit()
	return !permanent && Failures(job) < v.BackoffLimit()
}

// PermanentExit is the first pod that failed with one of the exit codes after which the job is not started again.
func (v *View) PermanentExit() (pod string, code int32, ok bool) {
	run := v.Job.Spec.RunPolicy
	if run == nil {
		return "", 0, false
	}
	for _, m := range v.Members() {
		if m.State != Failed {
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
