// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// conditionSetter writes the conditions of a status.
type conditionSetter struct {
	next *v1.PaddleJobStatus
	obs  *observed.State
	plan *Plan
	now  time.Time
}

// set writes one condition. The time of transition moves only with the status.
func (s *conditionSetter) set(kind string, is bool, reason, message string) {
	state := metav1.ConditionFalse
	if is {
		state = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&s.next.Conditions, metav1.Condition{
		Type: kind, Status: state, Reason: reason, Message: message,
		ObservedGeneration: s.obs.Job.Generation, LastTransitionTime: metav1.NewTime(s.now).Rfc3339Copy(),
	})
}

// has reports whether a condition is True.
func (s *conditionSetter) has(kind string) bool {
	return meta.IsStatusConditionTrue(s.next.Conditions, kind)
}

// setActiveConditions sets the conditions of a job that has not ended.
func (s *conditionSetter) setActiveConditions() {
	s.resumed(reasonResumed)
	s.stalled()
	s.created()
	placed, running := progress(s.obs, s.plan)
	s.admitted(placed)
	s.scheduled(placed)
	s.running(placed, running)
	s.launcherUsable()
	s.restarting(running)
}

func (s *conditionSetter) stalled() {
	obs, plan := s.obs, s.plan
	switch {
	case plan.Stalled != nil:
		s.set(v1.ConditionStalled, true, plan.Stalled.Reason, plan.Stalled.Message)
	case observed.IsAborted(obs.Phase()) && plan.Retrying == nil:
		s.set(v1.ConditionStalled, true, ReasonAborted, fmt.Sprintf(
			"a user or program aborted the Volcano Job: vcctl job resume -n %s -N %s starts it again", obs.Job.Namespace, obs.Job.Name))
	default:
		s.set(v1.ConditionStalled, false, reasonProceeding, "")
	}
}

func (s *conditionSetter) created() {
	obs, plan := s.obs, s.plan
	switch {
	case plan.Waiting != nil:
		s.set(v1.ConditionCreated, false, plan.Waiting.Reason, plan.Waiting.Message)
	case obs.VolcanoJob != nil && plan.SpecNotSynced != nil:
		s.set(v1.ConditionCreated, true, plan.SpecNotSynced.Reason, plan.SpecNotSynced.Message)
	case obs.VolcanoJob != nil:
		s.set(v1.ConditionCreated, true, reasonVolcanoJobCreated, warnings(obs.Job, plan))
	case plan.Stalled != nil:
		s.set(v1.ConditionCreated, false, reasonStalled, plan.Stalled.Message)
	case len(obs.Operator.Pods) > 0:
		s.set(v1.ConditionCreated, true, reasonByOperator,
			"paddle-operator started this job; it is left to finish without Volcano")
	default:
		s.set(v1.ConditionCreated, false, reasonCreating, "the Volcano Job could not be made yet; it is tried again")
	}
}

// warnings are the texts of those that were found, or those that were reported before about the same spec.
func warnings(job *v1.PaddleJob, plan *Plan) string {
	before := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionCreated)
	if plan.Warnings == nil && before != nil && before.Reason == reasonVolcanoJobCreated &&
		before.ObservedGeneration == job.Generation {
		return before.Message
	}
	return builder.Messages(plan.Warnings)
}

func (s *conditionSetter) running(placed, running bool) {
	if running {
		s.set(v1.ConditionRunning, true, reasonTraining, "")
		return
	}
	if !placed {
		s.set(v1.ConditionRunning, false, reasonNotScheduled, "")
		return
	}
	failures := s.obs.StartFailures()
	switch {
	case len(failures) > 0:
		s.set(v1.ConditionRunning, false, failures[0].Reason, startFailure(&failures[0], s.obs.Total()))
	case len(s.plan.Missing) > 0 && startingFor(s.obs) >= addressGracePeriod:
		s.set(v1.ConditionRunning, false, reasonWaitingForAddresses,
			"the pods start once all addresses are known; missing: "+some(s.plan.Missing))
	default:
		s.set(v1.ConditionRunning, false, reasonPodsStarting, "not running yet: "+some(notRunning(s.obs)))
	}
}

// startFailure is how many pods the kubelet does not start for a reason, and what it says of the first.
func startFailure(f *observed.StartFailure, total int32) string {
	text := fmt.Sprintf("%d of %d pods cannot start, for example %s", len(f.Pods), total, f.Pods[0])
	if f.Message != "" {
		text += ": " + f.Message
	}
	return text
}

func (s *conditionSetter) launcherUsable() {
	if cause := s.plan.LauncherUnusable; cause != nil {
		s.set(v1.ConditionLauncherUsable, false, cause.Reason, cause.Message)
		return
	}
	meta.RemoveStatusCondition(&s.next.Conditions, v1.ConditionLauncherUsable)
}

func notRunning(obs *observed.State) []string {
	var names []string
	for _, m := range obs.RolePods() {
		if m.State != observed.Running && m.State != observed.Succeeded {
			names = append(names, m.Pod.Name)
		}
	}
	return names
}

// some lists a few names; a status must not grow with the gang.
func some(names []string) string {
	const few = 5
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
}

func (s *conditionSetter) restarting(running bool) {
	obs, next := s.obs, s.next
	switch {
	case obs.VolcanoJob == nil:
	case s.plan.Retrying != nil:
		reason, message := failureCause(obs, obs.VolcanoJob.Status.RetryCount)
		if next.Restarts > observed.Restarts(obs.VolcanoJob) {
			message = s.numbered(reason, message)
		}
		s.set(v1.ConditionRestarting, true, reason, message+"; "+s.plan.Retrying.Message)
	case running && obs.Phase() != vcbatch.Restarting:
		switch {
		case s.has(v1.ConditionRestarting):
			s.set(v1.ConditionRestarting, false, reasonRestarted, "")
		case obs.Job.Status.Restarts < next.Restarts: // the restart was not observed
			_, message := s.lastRestart()
			s.set(v1.ConditionRestarting, false, reasonRestarted, message)
		}
	default:
		count := obs.VolcanoJob.Status.RetryCount
		if count == 0 {
			return
		}
		before := meta.FindStatusCondition(next.Conditions, v1.ConditionRestarting)
		reported := before != nil && before.Status == metav1.ConditionTrue && obs.Job.Status.Restarts == next.Restarts
		reason, message := s.lastRestart()
		if reported && reason == ReasonUnknownFailure {
			return // it was known when it happened
		}
		s.set(v1.ConditionRestarting, true, reason, message)
	}
}

// lastRestart returns the reason and the message of the gang's last restart.
func (s *conditionSetter) lastRestart() (reason, message string) {
	reason, message = failureCause(s.obs, s.obs.VolcanoJob.Status.RetryCount-1)
	return reason, s.numbered(reason, message)
}

// numbered is the number of the last restart and its cause; after a failure also how many restarts there may be if failures
// alone follow.
func (s *conditionSetter) numbered(reason, message string) string {
	if reason != observed.ReasonPodFailed {
		return fmt.Sprintf("restart %d: %s", s.next.Restarts, message)
	}
	return fmt.Sprintf("restart %d of %d: %s", s.next.Restarts, s.next.Restarts+max(s.obs.BackoffLimit()-s.next.Failures, 0), message)
}

// setTerminalConditions sets how a job has finished, once; later only a changed spec has something to say.
func (s *conditionSetter) setTerminalConditions(outcome v1.Phase) {
	obs, next, plan := s.obs, s.next, s.plan
	if plan.SpecNotSynced != nil {
		s.set(v1.ConditionCreated, true, plan.SpecNotSynced.Reason, plan.SpecNotSynced.Message)
	} else if meta.FindStatusCondition(next.Conditions, v1.ConditionCreated) == nil && obs.VolcanoJob == nil && plan.RestoredPhase == "" {
		if plan.Failed != nil && len(obs.Operator.Pods) == 0 {
			s.set(v1.ConditionCreated, false, plan.Failed.Reason, plan.Failed.Message)
		} else {
			s.set(v1.ConditionCreated, true, reasonByOperator, "paddle-operator started this job")
		}
	}
	if s.has(v1.ConditionSucceeded) || s.has(v1.ConditionFailed) {
		return
	}
	s.set(v1.ConditionStalled, false, reasonProceeding, "")
	if s.has(v1.ConditionRestarting) {
		s.set(v1.ConditionRestarting, false, reasonRestarted, "")
	}
	// One whose time was up before its suspension ends when it is to continue.
	s.resumed(string(outcome))
	reason, message := reasonWorkersSucceeded, ""
	if _, least := obs.Size(builder.RoleWorker); obs.VolcanoJob != nil && !plan.Succeeded && (next.Worker == nil || next.Worker.Succeeded < least) {
		reason, message = reasonVolcanoJobCompleted, "the Volcano Job was completed, by a command for example, before every worker was seen to succeed"
	}
	if outcome == v1.Failed {
		reason, message = failure(obs, plan)
	}
	if plan.RestoredPhase != "" {
		reason, message = ReasonRestored, fmt.Sprintf(
			"the job was %s before it was restored or copied: to run it, create it without the annotation %s", plan.RestoredPhase, v1.FinalStatusAnnotation)
	}
	if outcome == v1.Completed {
		s.set(v1.ConditionRunning, false, reasonCompleted, "")
		s.set(v1.ConditionSucceeded, true, reason, message)
		return
	}
	s.set(v1.ConditionRunning, false, reasonFailed, "")
	s.set(v1.ConditionFailed, true, reason, message)
}

// admitted reports whether the queue has admitted the gang; the reason why not is in Scheduled.
func (s *conditionSetter) admitted(placed bool) {
	switch obs := s.obs; {
	case obs.VolcanoJob == nil:
		s.set(v1.ConditionAdmitted, false, reasonNotCreated, "")
	case s.plan.Retrying != nil || obs.Phase() == vcbatch.Restarting:
		s.set(v1.ConditionAdmitted, false, reasonRestarting, "")
	case placed || obs.Admitted():
		s.set(v1.ConditionAdmitted, true, reasonAdmitted, "")
	default:
		s.set(v1.ConditionAdmitted, false, reasonQueueing, "")
	}
}

// eventOfSuspension is the text of the event by its reason.
var eventOfSuspension = map[string]string{
	ReasonSuspended: "nothing of the job runs any more; its resources and its capacity in the queue are free",
	reasonResumed:   "the job starts again",
}

// suspended sets the conditions of a suspended job. It is suspended from when that was decided, because from then on
// it does not train; the reason reports whether its resources are free.
func (s *conditionSetter) suspended() {
	why := s.plan.Suspended
	s.set(v1.ConditionSuspended, true, why.Reason, why.Message)
	s.set(v1.ConditionStalled, false, reasonProceeding, "")
	for _, kind := range []string{v1.ConditionCreated, v1.ConditionAdmitted, v1.ConditionScheduled, v1.ConditionRunning} {
		s.set(kind, false, ReasonSuspended, "")
	}
	if s.has(v1.ConditionRestarting) {
		s.set(v1.ConditionRestarting, false, ReasonSuspended, "")
	}
}

// resumed notes the end of a suspension and its reason. The job's deadline counts from this transition.
func (s *conditionSetter) resumed(reason string) {
	if s.has(v1.ConditionSuspended) {
		s.set(v1.ConditionSuspended, false, reason, "")
	}
}

// How long a reason holds before the status has it.
const (
	// settlePeriod is of reasons that nearly every gang has for a moment before it is placed.
	settlePeriod = 10 * time.Second
	// reasonPeriod is of all others: a gang that one scheduling session has no nodes for may get them in the next.
	reasonPeriod = time.Second
)

func (s *conditionSetter) scheduled(placed bool) {
	if placed {
		s.set(v1.ConditionScheduled, true, reasonPlaced, "")
		return
	}
	if s.plan.Retrying != nil {
		s.set(v1.ConditionScheduled, false, reasonRestarting, s.plan.Retrying.Message)
		return
	}
	reason, message := pendingReason(s.obs, s.now)
	s.set(v1.ConditionScheduled, false, reason, message)
}

// pendingReason is why the gang is not placed.
func pendingReason(obs *observed.State, now time.Time) (reason, message string) {
	made, total := int32(len(obs.Pods)), obs.Total()
	switch {
	case obs.VolcanoJob == nil:
		return reasonNotCreated, ""
	case obs.Phase() == vcbatch.Restarting:
		return reasonRestarting, "the pods of the failed gang are being deleted"
	case made < total && obs.PodCreateError != "":
		return RefusalReason(obs.PodCreateError), fmt.Sprintf("Volcano has made %d of %d pods, and the API server refuses the rest: %s", made, total, obs.PodCreateError)
	case SettlingFor(obs, now) > 0:
		return reasonPlacing, "the scheduler looks for nodes for the whole gang"
	}
	if c := notPlaced(obs.PodGroup); c != nil {
		return c.Reason, c.Message
	}
	switch {
	case !obs.Admitted():
		message = fmt.Sprintf("queue %q has not admitted the job yet: it is full, or the cluster has too little of what the gang asks for", obs.VolcanoJob.Spec.Queue)
		if text := unschedulable(obs.PodGroup); text != "" {
			message += ": " + text
		}
		return ReasonWaitingForQueue, message
	case made < total:
		return ReasonWaitingForPods, fmt.Sprintf(
			"Volcano has made %d of %d pods: kubectl describe vcjob -n %s %s says why", made, total, obs.Job.Namespace, obs.Job.Name)
	}
	return ReasonWaitingForGang, cmp.Or(unschedulable(obs.PodGroup), "the gang waits for nodes, and the scheduler has given no reason: if this stays, enable its plugin paddle")
}

// conditionPaddleScheduled is the type of the condition in which the scheduler's plugin paddle says where a gang runs or why it
// does not.
const conditionPaddleScheduled vcscheduling.PodGroupConditionType = "PaddleScheduled"

// notPlaced is the condition in which the plugin says why a gang is not placed, nil if it does not.
func notPlaced(group *vcscheduling.PodGroup) *vcscheduling.PodGroupCondition {
	c := conditionOf(group, conditionPaddleScheduled, corev1.ConditionFalse)
	if c == nil || c.Reason == "" {
		return nil
	}
	return c
}

// unschedulable returns Volcano's message about a gang that is not placed, "" if there is none.
func unschedulable(group *vcscheduling.PodGroup) string {
	if c := conditionOf(group, vcscheduling.PodGroupUnschedulableType, corev1.ConditionTrue); c != nil {
		return c.Message
	}
	return ""
}

func conditionOf(group *vcscheduling.PodGroup, kind vcscheduling.PodGroupConditionType, status corev1.ConditionStatus) *vcscheduling.PodGroupCondition {
	if group == nil {
		return nil
	}
	for i := range group.Status.Conditions {
		if c := &group.Status.Conditions[i]; c.Type == kind && c.Status == status {
			return c
		}
	}
	return nil
}

// SettlingFor is how much longer a gang that is not placed counts as one that is being placed. That is until a reason that the plugin
// gives has held for long enough, or where the plugin gives none, until the gang is old enough.
func SettlingFor(obs *observed.State, now time.Time) time.Duration {
	if obs.VolcanoJob == nil {
		return 0
	}
	since, wait := obs.VolcanoJob.CreationTimestamp.Time, settlePeriod
	if at := obs.VolcanoJob.Status.State.LastTransitionTime.Time; obs.VolcanoJob.Status.RetryCount > 0 && at.After(since) {
		since = at
	}
	if c := notPlaced(obs.PodGroup); c != nil {
		since = c.LastTransitionTime.Time
		if !isTransientReason(c.Reason) {
			wait = reasonPeriod
		}
	}
	return max(wait-now.Sub(since), 0)
}

// explaining are the conditions that can explain why a job is not ready, the first one first, each with the status in which it
// does. Admitted is none of them: a gang that is not admitted is not scheduled, and the reason of Scheduled says why.
var explaining = []struct {
	kind   string
	status metav1.ConditionStatus
}{
	{v1.ConditionFailed, metav1.ConditionTrue},
	{v1.ConditionStalled, metav1.ConditionTrue},
	{v1.ConditionSuspended, metav1.ConditionTrue},
	{v1.ConditionCreated, metav1.ConditionFalse},
	{v1.ConditionScheduled, metav1.ConditionFalse},
	{v1.ConditionRestarting, metav1.ConditionTrue},
	{v1.ConditionRunning, metav1.ConditionFalse},
}

// ready sets the summary of the other conditions.
func (s *conditionSetter) ready() {
	for _, kind := range []string{v1.ConditionSucceeded, v1.ConditionRunning} {
		if c := meta.FindStatusCondition(s.next.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue && !s.has(v1.ConditionFailed) {
			s.set(v1.ConditionReady, true, c.Reason, c.Message)
			return
		}
	}
	for _, e := range explaining {
		if c := meta.FindStatusCondition(s.next.Conditions, e.kind); c != nil && c.Status == e.status {
			s.set(v1.ConditionReady, false, c.Reason, c.Message)
			return
		}
	}
}
