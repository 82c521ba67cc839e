// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Next is the status after what was seen and what was planned for it. What a status has once said of the past (that the
// job has finished, when it started, how often it was restarted) stays, also where the observed state lags behind.
func Next(obs *observed.State, plan *Plan, now time.Time) *v1.PaddleJobStatus {
	next := obs.Job.Status.DeepCopy()
	next.ObservedGeneration = obs.Job.Generation
	next.Mode = builder.Mode(obs.Job)
	next.Selector = labels.Set{v1.JobNameLabel: obs.Job.Name, v1.ResourceTypeLabel: builder.RoleWorker}.String()
	next.Queue = queueOf(obs, next.Queue)
	next.Restarts = max(next.Restarts, restarts(obs, plan))
	next.Failures += plan.Failures
	next.Recreations = max(next.Recreations, recreations(obs, plan))
	outcome := outcomeOf(obs, plan)
	countRoles(next, obs, outcome != "")
	setter := &conditionSetter{next: next, obs: obs, plan: plan, now: now}
	switch {
	case outcome != "":
		setter.setTerminalConditions(outcome)
	case obs.Job.DeletionTimestamp != nil:
		// The conditions stay until the end.
	case plan.Suspended != nil:
		setter.suspended()
	case ending(obs) && (plan.Retrying == nil || obs.PodStatusLag() > 0):
		// As above.
	default:
		setter.setActiveConditions()
	}
	setter.ready()
	next.Phase = phaseOf(next, obs.Job.DeletionTimestamp != nil)
	times(next, obs, plan, now)
	return next
}

func queueOf(obs *observed.State, before string) string {
	switch {
	case obs.VolcanoJob != nil:
		return obs.VolcanoJob.Spec.Queue
	case obs.Job.Spec.SchedulingPolicy != nil && obs.Job.Spec.SchedulingPolicy.Queue != "":
		return obs.Job.Spec.SchedulingPolicy.Queue
	}
	return before
}

// outcomeOf is how the job finishes, or has finished: Completed or Failed, "" for one that does not.
func outcomeOf(obs *observed.State, plan *Plan) v1.Phase {
	phase := obs.Phase()
	switch {
	case observed.Finished(obs.Job):
		return observed.Outcome(&obs.Job.Status)
	case plan.RestoredPhase != "":
		return plan.RestoredPhase
	case plan.Failed != nil:
		return v1.Failed
	case plan.Succeeded:
		return v1.Completed
	case obs.Job.DeletionTimestamp != nil, plan.Suspended != nil, obs.PodStatusLag() > 0, plan.Retrying != nil:
		return ""
	case phase == vcbatch.Completed, obs.VolcanoJob == nil && len(obs.Operator.Pods) > 0 && obs.Succeeded():
		return v1.Completed
	case observed.IsEnded(phase):
		return v1.Failed
	}
	return ""
}

// phaseOf returns the phase that summarizes the conditions.
func phaseOf(status *v1.PaddleJobStatus, deleted bool) v1.Phase {
	is := func(kind string) bool { return meta.IsStatusConditionTrue(status.Conditions, kind) }
	switch outcome := observed.Outcome(status); {
	case outcome != "":
		return outcome
	case deleted:
		return v1.Terminating
	case is(v1.ConditionSuspended):
		return v1.Suspended
	case observed.Restarting(status):
		return v1.Restarting
	case is(v1.ConditionRunning):
		return v1.Running
	case is(v1.ConditionScheduled):
		return v1.Starting
	}
	return v1.Pending
}

// ending reports whether the end is certain and Volcano has begun it: that servers stop then is not reported.
func ending(obs *observed.State) bool {
	return obs.VolcanoJob != nil && (obs.Ended() || obs.Succeeded() || obs.PodStatusLag() > 0)
}

// progress reports whether enough pods of every role are placed, and whether enough of them run or have succeeded. Those that are
// deleted to start the job again do not count.
func progress(obs *observed.State, plan *Plan) (placed, running bool) {
	if replaced(obs) || plan.Waiting != nil && plan.Waiting.Reason == ReasonTakingOver {
		return false, false
	}
	on, up := map[string]int32{}, map[string]int32{}
	for _, m := range obs.RolePods() {
		switch m.State {
		case observed.Starting:
			on[m.Role]++
		case observed.Running, observed.Succeeded:
			on[m.Role]++
			up[m.Role]++
		}
	}
	size := int32(0)
	placed, running = true, true
	for _, role := range observed.Roles {
		total, minimum := obs.Size(role)
		size += total
		placed = placed && on[role] >= minimum
		running = running && up[role] >= minimum
	}
	return placed && size > 0, running && size > 0
}

// replaced reports whether the Volcano Job is one that was deleted when the job was suspended: its pods end, and the job, which
// was resumed since, waits for the next Volcano Job.
func replaced(obs *observed.State) bool {
	before := phaseOf(&obs.Job.Status, false)
	return obs.VolcanoJob != nil && obs.VolcanoJob.DeletionTimestamp != nil && (before == v1.Suspended || before == v1.Pending)
}

// times keeps when the gang first ran and when the job ended.
func times(next *v1.PaddleJobStatus, obs *observed.State, plan *Plan, now time.Time) {
	if next.StartTime == nil && plan.RestoredPhase == "" && (next.Phase == v1.Running || next.Phase == v1.Completed) {
		next.StartTime = started(obs, now)
	}
	if next.CompletionTime == nil && observed.Outcome(next) != "" {
		end := metav1.NewTime(now).Rfc3339Copy()
		if plan.Failed == nil && !plan.Succeeded && obs.VolcanoJob != nil && !obs.VolcanoJob.Status.State.LastTransitionTime.IsZero() {
			end = obs.VolcanoJob.Status.State.LastTransitionTime
		}
		next.CompletionTime = &end
	}
}

// started is when the last container of the gang started.
func started(obs *observed.State, now time.Time) *metav1.Time {
	var last *metav1.Time
	for _, m := range obs.RolePods() {
		for i := range m.Pod.Status.ContainerStatuses {
			state := &m.Pod.Status.ContainerStatuses[i].State
			var at *metav1.Time
			switch {
			case state.Running != nil:
				at = &state.Running.StartedAt
			case state.Terminated != nil:
				at = &state.Terminated.StartedAt
			}
			if !at.IsZero() && (last == nil || last.Before(at)) {
				last = at.DeepCopy()
			}
		}
	}
	if last == nil {
		at := metav1.NewTime(now).Rfc3339Copy()
		last = &at
	}
	return last
}

// maxRefs is how many pods of a role the status points to: it is written often, and must not grow with the gang.
const maxRefs = 10

// countRoles counts the pods of each role.
func countRoles(next *v1.PaddleJobStatus, obs *observed.State, ended bool) {
	members := obs.RolePods()
	next.PS = countRole(obs, builder.RolePS, members, next.PS, ended)
	next.Worker = countRole(obs, builder.RoleWorker, members, next.Worker, ended)
	next.Heter = countRole(obs, builder.RoleHeter, members, next.Heter, ended)
}

func countRole(obs *observed.State, role string, members []*observed.RolePod, before *v1.ResourceStatus, ended bool) *v1.ResourceStatus {
	total, _ := obs.Size(role)
	if total <= 0 && before == nil {
		return nil
	}
	count := &v1.ResourceStatus{}
	counters := map[observed.PodState]*int32{
		observed.Unscheduled: &count.Pending, observed.Starting: &count.Starting, observed.Running: &count.Running,
		observed.Succeeded: &count.Succeeded, observed.Failed: &count.Failed, observed.Unknown: &count.Unknown,
	}
	for _, m := range members {
		counter := counters[m.State]
		if m.Role != role || counter == nil || ended && m.State != observed.Succeeded && m.State != observed.Failed {
			continue
		}
		*counter++
		if len(count.Refs) < maxRefs {
			count.Refs = append(count.Refs, corev1.ObjectReference{
				APIVersion: "v1", Kind: "Pod", Namespace: m.Pod.Namespace, Name: m.Pod.Name, UID: m.Pod.UID,
			})
		}
	}
	count.Replicas = count.Pending + count.Starting + count.Running + count.Unknown
	count.Ready = fmt.Sprintf("%d/%d", count.Running, total)
	if ended && before != nil { // the counts stay when the pods are deleted
		count.Succeeded = max(count.Succeeded, before.Succeeded)
		count.Failed = max(count.Failed, before.Failed)
		if observed.Finished(obs.Job) && len(before.Refs) > len(count.Refs) {
			count.Refs = before.Refs
		}
	}
	return count
}

// restarts is how often the gang was started again, the start that is certain included.
func restarts(obs *observed.State, plan *Plan) int32 {
	if obs.VolcanoJob == nil {
		return 0
	}
	if plan.CountRestart {
		return observed.Restarts(obs.VolcanoJob) + 1
	}
	return observed.Restarts(obs.VolcanoJob)
}

// recreations is how many Volcano Jobs were deleted to be created again, the terminating one included.
func recreations(obs *observed.State, plan *Plan) int32 {
	if obs.VolcanoJob == nil || obs.Job.DeletionTimestamp != nil || observed.Finished(obs.Job) {
		return 0
	}
	if plan.Recreate || obs.VolcanoJob.DeletionTimestamp != nil {
		return observed.Recreations(obs.VolcanoJob) + 1
	}
	return observed.Recreations(obs.VolcanoJob)
}

// failureCause is why the attempt before the present one ended, or the present one where it was the last.
func failureCause(obs *observed.State, attempt int32) (reason, message string) {
	if obs.Failure != nil && obs.Failure.Attempt == attempt {
		return obs.Failure.Reason, obs.Failure.Message
	}
	if obs.VolcanoJob != nil && attempt == obs.VolcanoJob.Status.RetryCount && obs.Disrupted() {
		return observed.ReasonPodEvicted, "a pod was deleted or evicted"
	}
	for _, m := range obs.RolePods() {
		if m.State == observed.Failed {
			return observed.ReasonPodFailed, observed.TerminationMessage(m.Pod)
		}
	}
	if obs.VolcanoJob != nil && (obs.EarlierCommand || observed.IsAborted(obs.Phase()) && obs.StaleCommand()) {
		return ReasonUnknownFailure, "Volcano stopped the job by a command about an earlier Volcano Job or attempt"
	}
	return ReasonUnknownFailure, "a pod failed or was evicted"
}

// failure is why the job has failed permanently.
func failure(obs *observed.State, plan *Plan) (reason, message string) {
	if plan.Failed != nil {
		return plan.Failed.Reason, failedMessage(obs, plan)
	}
	if obs.VolcanoJob == nil {
		return failureCause(obs, 0)
	}
	if pod, code, ok := obs.PermanentExit(); ok {
		return ReasonPermanentExitCode, fmt.Sprintf("%s exited with code %d, after which the job is not started again", pod, code)
	}
	if c := meta.FindStatusCondition(obs.Job.Status.Conditions, v1.ConditionScheduled); c != nil && IsRefusal(c.Reason) {
		return c.Reason, "Volcano terminated the job: " + c.Message
	}
	if obs.PodCreateError != "" {
		return RefusalReason(obs.PodCreateError), "Volcano terminated the job, because the API server refused a pod: " + obs.PodCreateError
	}
	return ReasonTerminated, fmt.Sprintf("Volcano terminated the job: kubectl describe vcjob -n %s %s says why",
		obs.VolcanoJob.Namespace, obs.VolcanoJob.Name)
}

// failedMessage returns the last failure of a job that the controller fails, where it ended by a failure.
func failedMessage(obs *observed.State, plan *Plan) string {
	if plan.Failed.Reason != ReasonBackoffLimitExceeded || obs.VolcanoJob == nil {
		return plan.Failed.Message
	}
	_, text := failureCause(obs, obs.VolcanoJob.Status.RetryCount)
	before := observed.Restarts(obs.VolcanoJob)
	if before <= 0 {
		return text + "; " + plan.Failed.Message
	}
	return fmt.Sprintf("%s; the job had been restarted %s before, and %s", text, timesText(before), plan.Failed.Message)
}

// timesText returns a number of times in words: "once", "twice", "3 times".
func timesText(n int32) string {
	return cmp.Or(map[int32]string{1: "once", 2: "twice"}[n], fmt.Sprintf("%d times", n))
}

// How long a change of the status that is no news waits, so that one write has it and the changes after it.
const (
	// columnsDelay is of what kubectl get shows. It is never more than 10 seconds behind the pods, whose changes are gathered
	// for a second before the job is reconciled.
	columnsDelay = 8 * time.Second
	// textDelay is of everything else: messages, reasons that nearly every gang has for a moment, and how many of the pods that do
	// not run wait. A thousand jobs that wait together change their messages with each scheduling session.
	textDelay = time.Minute
)

// Delay returns how long a change of the job's status may wait for more of them, 0 if it is news. The counts of a job that
// ends wait for its end.
func Delay(obs *observed.State, after *v1.PaddleJobStatus) time.Duration {
	before := &obs.Job.Status
	onItsWay := (starts(before.Phase) || before.Phase == v1.Restarting) && starts(after.Phase)
	switch {
	case newReason(before, after) || !equality.Semantic.DeepEqual(news(before, onItsWay), news(after, onItsWay)):
		return 0
	case columns(before) != columns(after) && !ending(obs):
		return columnsDelay
	}
	return textDelay
}

// news is the part of a status whose change is written at once. The condition Ready repeats others, and the queue's admission is
// nearly always followed by the placement. The status of a job that is starting is soon written anyway.
func news(status *v1.PaddleJobStatus, onItsWay bool) *v1.PaddleJobStatus {
	status = status.DeepCopy()
	status.PS, status.Worker, status.Heter = nil, nil, nil
	dropped := []string{v1.ConditionReady, v1.ConditionAdmitted}
	if onItsWay {
		status.Phase = v1.Starting
		dropped = append(dropped, v1.ConditionScheduled, v1.ConditionRunning)
	}
	for _, kind := range dropped {
		meta.RemoveStatusCondition(&status.Conditions, kind)
	}
	for i := range status.Conditions {
		status.Conditions[i].Message = ""
	}
	return status
}

// newReason reports whether the status gives another reason for which the gang waits or does not start, unless nearly every
// gang has that reason for a moment.
func newReason(before, after *v1.PaddleJobStatus) bool {
	for _, kind := range []string{v1.ConditionScheduled, v1.ConditionRunning} {
		is := meta.FindStatusCondition(after.Conditions, kind)
		if is == nil || is.Status != metav1.ConditionFalse || !IsWaitingReason(is.Reason) || isTransientReason(is.Reason) {
			continue
		}
		if was := meta.FindStatusCondition(before.Conditions, kind); was == nil || was.Reason != is.Reason {
			return true
		}
	}
	return false
}

// columns are what kubectl get shows and is no news: the phase, whether the gang is placed, and the counts of pods.
func columns(status *v1.PaddleJobStatus) (all [5]string) {
	all[0] = string(status.Phase)
	if meta.IsStatusConditionTrue(status.Conditions, v1.ConditionScheduled) {
		all[4] = v1.ConditionScheduled
	}
	for i, role := range []*v1.ResourceStatus{status.PS, status.Worker, status.Heter} {
		if role != nil {
			all[i+1] = role.Ready
		}
	}
	return all
}

// starts reports whether a job in this phase is starting.
func starts(phase v1.Phase) bool { return phase == v1.Pending || phase == v1.Starting }
