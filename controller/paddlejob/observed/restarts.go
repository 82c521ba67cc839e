// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

// defaultBackoffLimit is what an unset backoffLimit means.
const defaultBackoffLimit int32 = 2

// RestartsPods reports whether a worker that fails is started again alone: no policy of the whole Volcano Job restarts the
// gang for it.
func RestartsPods(job *vcbatch.Job) bool { return len(job.Spec.Policies) == 0 }

// Recreations is how many Volcano Jobs were made for the PaddleJob before this one.
func Recreations(job *vcbatch.Job) int32 { return counted(job, v1.RecreationsAnnotation) }

func counted(job *vcbatch.Job, key string) int32 {
	count, err := strconv.ParseInt(job.Annotations[key], 10, 32)
	if err != nil || count < 0 {
		return 0
	}
	return int32(count)
}

// Restarts is how often the gang was started again, under this Volcano Job and those that it replaced.
func Restarts(job *vcbatch.Job) int32 {
	return counted(job, v1.EarlierRestartsAnnotation) + job.Status.RetryCount
}

// RestartCounted reports whether the status has counted already the restart that follows the present attempt.
func (s *State) RestartCounted() bool { return s.Job.Status.Restarts > Restarts(s.VolcanoJob) }

// FailureNumber is the number of the failure of a worker that is started again alone; false if it has none yet.
func FailureNumber(pod *corev1.Pod) (int32, bool) {
	number, err := strconv.ParseInt(pod.Annotations[v1.FailureAnnotation], 10, 32)
	return int32(number), err == nil && number > 0
}

// BackoffLimit is how many failures are followed by another start.
func (s *State) BackoffLimit() int32 {
	if run := s.Job.Spec.RunPolicy; run != nil && run.BackoffLimit != nil {
		return *run.BackoffLimit
	}
	return defaultBackoffLimit
}

// GangFailedByItself reports whether the present attempt ended by a failure of the program that counts and is not counted yet. Volcano keeps
// pods that have failed when it stops a gang: where none is left, the pod that failed was being deleted.
func (s *State) GangFailedByItself() bool {
	return !s.RestartCounted() && s.FailureSeen() && !s.Disrupted() && !s.countedAlone() && !s.gangFailureIgnored()
}

// countedAlone reports whether the status has counted every failure of the present attempt as one of a worker that is started
// again alone. The controller deletes no pod before its failure is counted.
func (s *State) countedAlone() bool {
	if !RestartsPods(s.VolcanoJob) {
		return false
	}
	for _, m := range s.RolePods() {
		if number, ok := FailureNumber(m.Pod); m.FailedByItself() && !s.FailureIgnored(m) && (!ok || number > s.Job.Status.Failures) {
			return false
		}
	}
	return s.Job.Status.Failures > 0
}

// LastFailure reports whether the present attempt ended by a failure after which the gang is not started again.
func (s *State) LastFailure() bool {
	if !s.GangFailedByItself() {
		return false
	}
	_, _, permanent := s.PermanentExit()
	return permanent || s.Job.Status.Failures >= s.BackoffLimit()
}

// FailedByVolcano reports whether Volcano has finished a Job that the controller starts again or fails itself. Volcano fails a Job
// of which all pods end before it has seen the first of them. It counts them before it evaluates the policies
// (runningState.Execute in volcano/pkg/controllers/job/state/running.go, v1.14.1). And it executes commands about an earlier Job.
// Their maxRetry is never used up (package builder).
func (s *State) FailedByVolcano() bool {
	if Finished(s.Job) {
		return false
	}
	if s.EarlierCommand && !IsAborted(s.Phase()) {
		return !s.Succeeded()
	}
	return s.Phase() == vcbatch.Failed
}

// NeedsRecreation reports whether Volcano has failed a Job that is to be started again.
func (s *State) NeedsRecreation() bool { return s.FailedByVolcano() && !s.LastFailure() }

// PermanentExit returns the first pod whose failure fails the job permanently by the rules of podFailurePolicy, and its exit code.
func (s *State) PermanentExit() (pod string, code int32, ok bool) {
	for _, m := range s.RolePods() {
		if action, code := s.failureAction(m); action == v1.FailJob {
			return m.Pod.Name, code, true
		}
	}
	return "", 0, false
}

// FailureIgnored reports whether the rules of podFailurePolicy ignore the failure of a pod.
func (s *State) FailureIgnored(m *RolePod) bool {
	action, _ := s.failureAction(m)
	return action == v1.IgnoreFailure
}

// gangFailureIgnored reports whether the first failure of the present attempt is ignored. Those after it are mostly its
// consequence: peers fail that have lost a worker.
func (s *State) gangFailureIgnored() bool {
	first, _ := s.FirstFailure()
	return first != nil && s.FailureIgnored(first)
}

// failureAction returns what the first matching rule of podFailurePolicy says about a pod that failed by itself, and the exit code
// that it matches; "" if no rule does.
func (s *State) failureAction(m *RolePod) (action v1.PodFailurePolicyAction, code int32) {
	if _, disrupted := Disruption(m.Pod); !m.FailedByItself() || disrupted {
		return "", 0
	}
	for _, rule := range builder.PodFailureRules(s.Job) {
		for _, statuses := range [][]corev1.ContainerStatus{m.Pod.Status.InitContainerStatuses, m.Pod.Status.ContainerStatuses} {
			for i := range statuses {
				if end := statuses[i].State.Terminated; end != nil && matches(&rule.OnExitCodes, statuses[i].Name, end.ExitCode) {
					return rule.Action, end.ExitCode
				}
			}
		}
	}
	return "", 0
}

func matches(on *v1.PodFailurePolicyOnExitCodes, container string, code int32) bool {
	if code == 0 || on.ContainerName != nil && *on.ContainerName != container {
		return false
	}
	return slices.Contains(on.Values, code) == (on.Operator == v1.ExitCodeIn)
}

// maxStatusLag is how much later than their Volcano Job's the pods' ends may be seen: two watches are not synchronized.
const maxStatusLag = 5 * time.Second

// PodStatusLag is how much longer to wait for the pods' ends after that of their Volcano Job, 0 where they are seen, or a program
// or user has completed or aborted it. What is not seen before the pods are cleaned up will never be known.
func (s *State) PodStatusLag() time.Duration {
	job := s.VolcanoJob
	if job == nil || Finished(s.Job) || job.Status.State.LastTransitionTime.IsZero() {
		return 0
	}
	switch s.Phase() {
	case vcbatch.Completed:
		if s.Succeeded() {
			return 0
		}
	case vcbatch.Failed, vcbatch.Terminated:
		if s.FailureSeen() {
			return 0
		}
	case vcbatch.Aborting, vcbatch.Aborted:
		if s.StoppedForAPod() {
			return 0
		}
	default:
		return 0
	}
	return max(maxStatusLag-s.Now.Sub(job.Status.State.LastTransitionTime.Time), 0)
}

// StoppedForAPod reports whether a failure or an eviction is why the Volcano Job is aborted, and not a user's command.
func (s *State) StoppedForAPod() bool {
	return Restarting(&s.Job.Status) || s.FailureSeen() || s.Disrupted() || s.StaleCommand()
}

// StaleCommand reports whether the Volcano Job is taken to be aborted by a command about an earlier one or an earlier attempt. Either the controller has given such
// a command, or this one has replaced a failed one, to which another controller may have given it.
func (s *State) StaleCommand() bool {
	job := s.VolcanoJob
	return s.EarlierCommand || Recreations(job) > 0 && meta.IsStatusConditionTrue(s.Job.Status.Conditions, v1.ConditionRestarting) &&
		job.Status.State.LastTransitionTime.Sub(job.CreationTimestamp.Time) < volcano.StaleCommandPeriod
}

// FailureSeen reports whether the failure of a pod is known that ended the present attempt. A program that is stopped
// has not failed: that is how pods end when a user aborts the Volcano Job.
func (s *State) FailureSeen() bool {
	if s.Failure != nil && s.Failure.Reason == ReasonPodFailed && !s.Failure.ByVolcano && s.Failure.Attempt == s.VolcanoJob.Status.RetryCount {
		return true
	}
	return slices.ContainsFunc(s.RolePods(), (*RolePod).FailedByItself)
}

// Resumed reports whether pods of a later attempt are seen than the Volcano Job's: it has started again, and is seen late.
func (s *State) Resumed() bool {
	return slices.ContainsFunc(s.Pods, func(pod *corev1.Pod) bool {
		attempt, ok := Attempt(pod)
		return ok && attempt > s.VolcanoJob.Status.RetryCount
	})
}
