// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
)

// Reasons of conditions that are not their type after the kind, as Kubeflow's tools know them.
const (
	reasonNotRunning = kubeflowv1.Kind + "NotRunning"
	reasonRestarted  = kubeflowv1.Kind + "Restarted"
	reasonResumed    = kubeflowv1.Kind + "Resumed"
	reasonProceeding = "Proceeding"
)

// reasonOf is the reason of a condition that is True, and of others that are not because of it.
func reasonOf(kind kubeflowv1.ConditionType) string { return kubeflowv1.Kind + string(kind) }

// fieldPaths translates paths of fields of the PaddleJob to those of Kubeflow's, which has no spec.intranet.
var fieldPaths = strings.NewReplacer(
	"Set spec.intranet: Service", "Have the controller started with --default-intranet=Service",
	"spec.ps", "spec.paddleReplicaSpecs.Master",
	"spec.worker.requests", "spec.elasticPolicy.minReplicas",
	"spec.worker.limits", "spec.elasticPolicy.maxReplicas",
	"spec.worker", "spec.paddleReplicaSpecs.Worker",
	"spec.schedulingPolicy", "spec.runPolicy.schedulingPolicy",
	"spec.cleanPodPolicy", "spec.runPolicy.cleanPodPolicy",
)

// translateFieldPaths returns a text about the PaddleJob with the field paths of Kubeflow's.
func translateFieldPaths(text string) string { return fieldPaths.Replace(text) }

// Next is the status of a job after what was seen and what was planned for it. What a status has once said of the past
// (that the job has finished, when it started) stays, also when its PaddleJob is gone.
func Next(v *State, plan *Plan) *kubeflowv1.JobStatus {
	next, made := v.Job.Status.DeepCopy(), v.Made()
	if v.Job.DeletionTimestamp != nil || ManagedExternally(v.Job) || made == nil && isTerminal(next) {
		return next
	}
	exists := made != nil
	if !exists {
		made = &batchv1.PaddleJob{}
	}
	s := &conditionSetter{next: next, job: v.Job, made: made, exists: exists, now: metav1.NewTime(v.Now).Rfc3339Copy()}
	if !isTerminal(next) {
		s.created(plan)
		s.active(plan)
		s.ended()
	}
	if next.StartTime == nil {
		next.StartTime = made.Status.StartTime.DeepCopy()
	}
	if next.CompletionTime == nil && isTerminal(next) {
		next.CompletionTime = made.Status.CompletionTime.DeepCopy()
		if next.CompletionTime == nil {
			next.CompletionTime = s.now.DeepCopy()
		}
	}
	s.count()
	return next
}

// isTerminal reports whether the status is that of a finished job, also if another controller wrote it.
func isTerminal(status *kubeflowv1.JobStatus) bool {
	return isTrue(status, kubeflowv1.ConditionSucceeded) || isTrue(status, kubeflowv1.ConditionFailed)
}

func find(status *kubeflowv1.JobStatus, kind kubeflowv1.ConditionType) *kubeflowv1.JobCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return nil
}

func isTrue(status *kubeflowv1.JobStatus, kind kubeflowv1.ConditionType) bool {
	c := find(status, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

// conditionSetter writes the conditions of a status.
type conditionSetter struct {
	next *kubeflowv1.JobStatus
	job  *kubeflowv1.PaddleJob
	// made is the PaddleJob, an empty one if none exists.
	made   *batchv1.PaddleJob
	exists bool
	now    metav1.Time
}

// is returns a condition of the PaddleJob that has a status, nil if it has not.
func (s *conditionSetter) is(status metav1.ConditionStatus, kind string) *metav1.Condition {
	if c := meta.FindStatusCondition(s.made.Status.Conditions, kind); c != nil && c.Status == status {
		return c
	}
	return nil
}

// set writes one condition. The last condition is what tools show as the job's state, so that what is so stands behind
// what is not, in the order in which it came to be.
func (s *conditionSetter) set(kind kubeflowv1.ConditionType, status corev1.ConditionStatus, reason, message string) {
	made := kubeflowv1.JobCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: s.now, LastTransitionTime: s.now}
	if old := find(s.next, kind); old != nil && old.Status == status {
		if old.Reason != reason || old.Message != message {
			made.LastTransitionTime = old.LastTransitionTime
			*old = made
		}
		return
	}
	all := append(slices.DeleteFunc(s.next.Conditions, func(c kubeflowv1.JobCondition) bool { return c.Type == kind }), made)
	// "False" comes before "True".
	slices.SortStableFunc(all, func(a, b kubeflowv1.JobCondition) int { return strings.Compare(string(a.Status), string(b.Status)) })
	s.next.Conditions = all
}

func (s *conditionSetter) hold(kind kubeflowv1.ConditionType, reason, message string) {
	s.set(kind, corev1.ConditionTrue, reason, message)
}

// unset makes a condition False that is True, and says nothing where it is not.
func (s *conditionSetter) unset(kind kubeflowv1.ConditionType, reason, message string) {
	if isTrue(s.next, kind) {
		s.set(kind, corev1.ConditionFalse, reason, message)
	}
}

func (s *conditionSetter) says(what string) string {
	return fmt.Sprintf("PaddleJob %s is %s.", s.job.Name, what)
}

// created sets the condition that the job was created, with the warnings, and the reason for which it does not run yet.
func (s *conditionSetter) created(plan *Plan) {
	if !s.exists {
		why := plan.Waiting
		if why == nil {
			why = plan.Stalled
		}
		if why != nil && !isTrue(s.next, kubeflowv1.ConditionCreated) {
			s.set(kubeflowv1.ConditionCreated, corev1.ConditionFalse, why.Reason, why.Message)
		}
		return
	}
	reason, lines := reasonOf(kubeflowv1.ConditionCreated), []string{builder.Messages(plan.Warnings)}
	if plan.SpecNotSynced != nil {
		reason, lines = plan.SpecNotSynced.Reason, []string{plan.SpecNotSynced.Message}
	}
	if c := meta.FindStatusCondition(s.made.Status.Conditions, batchv1.ConditionCreated); c != nil {
		if plan.SpecNotSynced == nil && (specNotApplied(c.Reason) || lifecycle.IsRefusal(c.Reason)) {
			reason = c.Reason
		}
		lines = append(lines, translateFieldPaths(c.Message))
	}
	for _, kind := range []string{batchv1.ConditionScheduled, batchv1.ConditionRunning, batchv1.ConditionLauncherUsable} {
		c := s.is(metav1.ConditionFalse, kind)
		if c != nil && (kind == batchv1.ConditionLauncherUsable || lifecycle.IsWaitingReason(c.Reason)) {
			lines = append(lines, c.Reason+": "+translateFieldPaths(c.Message))
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	if len(lines) == 0 {
		lines = []string{s.says("created")}
	}
	s.hold(kubeflowv1.ConditionCreated, reason, strings.Join(lines, "; "))
}

func specNotApplied(reason string) bool {
	return reason == lifecycle.ReasonSpecChangeNotApplied || reason == lifecycle.ReasonSpecChangeRefused
}

// active sets the conditions of a job that has not ended.
func (s *conditionSetter) active(plan *Plan) {
	is := func(kind string) *metav1.Condition { return s.is(metav1.ConditionTrue, kind) }
	if is(batchv1.ConditionSuspended) != nil {
		s.hold(kubeflowv1.ConditionSuspended, reasonOf(kubeflowv1.ConditionSuspended), s.says("suspended"))
	} else if s.exists {
		s.unset(kubeflowv1.ConditionSuspended, reasonResumed, s.says("resumed"))
	}
	if c := is(batchv1.ConditionRestarting); c != nil {
		s.hold(kubeflowv1.ConditionRestarting, reasonOf(kubeflowv1.ConditionRestarting), translateFieldPaths(c.Message))
	} else if s.exists {
		s.unset(kubeflowv1.ConditionRestarting, reasonRestarted, "")
	}
	switch {
	case is(batchv1.ConditionRunning) != nil:
		s.hold(kubeflowv1.ConditionRunning, reasonOf(kubeflowv1.ConditionRunning), s.says("running"))
	case isTrue(s.next, kubeflowv1.ConditionSuspended):
		s.unset(kubeflowv1.ConditionRunning, reasonOf(kubeflowv1.ConditionSuspended), s.says("suspended"))
	case isTrue(s.next, kubeflowv1.ConditionRestarting):
		s.unset(kubeflowv1.ConditionRunning, reasonOf(kubeflowv1.ConditionRestarting), s.says("restarting"))
	default:
		s.unset(kubeflowv1.ConditionRunning, reasonNotRunning, "")
	}
	if plan.Stalled != nil {
		s.hold(kubeflowv1.ConditionStalled, plan.Stalled.Reason, plan.Stalled.Message)
	} else if c := is(batchv1.ConditionStalled); c != nil {
		s.hold(kubeflowv1.ConditionStalled, c.Reason, translateFieldPaths(c.Message))
	} else {
		s.unset(kubeflowv1.ConditionStalled, reasonProceeding, "")
	}
}

// ended sets the condition with which the job has finished, once.
func (s *conditionSetter) ended() {
	kind, reason, message := kubeflowv1.ConditionSucceeded, reasonOf(kubeflowv1.ConditionSucceeded), fmt.Sprintf("PaddleJob %s is successfully completed.", s.job.Name)
	if c := s.is(metav1.ConditionTrue, batchv1.ConditionFailed); c != nil {
		kind, reason, message = kubeflowv1.ConditionFailed, reasonOf(kubeflowv1.ConditionFailed), translateFieldPaths(c.Message)
	} else if s.is(metav1.ConditionTrue, batchv1.ConditionSucceeded) == nil {
		return
	}
	s.unset(kubeflowv1.ConditionStalled, reasonProceeding, "")
	for _, active := range []kubeflowv1.ConditionType{kubeflowv1.ConditionSuspended, kubeflowv1.ConditionRestarting, kubeflowv1.ConditionRunning} {
		s.unset(active, reason, "")
	}
	s.hold(kind, reason, message)
}

// count counts the pods of each role. Those of a finished job are never fewer than they were.
func (s *conditionSetter) count() {
	before := s.next.ReplicaStatuses
	s.next.ReplicaStatuses = maps.Clone(before)
	for name := range s.job.Spec.PaddleReplicaSpecs {
		role, seen := roleOf(name), s.made.Status.Worker
		switch role {
		case "":
			continue
		case kubeflowv1.Master:
			seen = s.made.Status.PS
		}
		count := &kubeflowv1.ReplicaStatus{}
		if old := before[role]; old != nil {
			count = old.DeepCopy()
		}
		count.Active, count.Selector = 0, labels.SelectorFromSet(podLabels(s.job.Name, role)).String()
		switch {
		case seen == nil:
		case isTerminal(s.next):
			count.Succeeded, count.Failed = max(count.Succeeded, seen.Succeeded), max(count.Failed, seen.Failed)
		default:
			count.Active, count.Succeeded, count.Failed = seen.Running, seen.Succeeded, seen.Failed
		}
		if s.next.ReplicaStatuses == nil {
			s.next.ReplicaStatuses = map[kubeflowv1.ReplicaType]*kubeflowv1.ReplicaStatus{}
		}
		s.next.ReplicaStatuses[role] = count
	}
}

// eventTypes are of the events when a condition comes to be True. Warnings are emitted again with another reason or message.
var eventTypes = []struct {
	condition kubeflowv1.ConditionType
	event     string
	repeated  bool
}{
	{condition: kubeflowv1.ConditionCreated, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionStalled, event: corev1.EventTypeWarning, repeated: true},
	{condition: kubeflowv1.ConditionRestarting, event: corev1.EventTypeWarning, repeated: true},
	{condition: kubeflowv1.ConditionSuspended, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionRunning, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionSucceeded, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionFailed, event: corev1.EventTypeWarning},
}

// Events returns the events for the changes between two statuses. A status that was written has none again, so a restarted
// controller repeats no event.
func Events(before, after *kubeflowv1.JobStatus, warnings []builder.Cause) (events []lifecycle.Event) {
	emit := func(kind, reason, message string) {
		events = append(events, lifecycle.Event{Type: kind, Reason: reason, Message: message})
	}
	for _, k := range eventTypes {
		if was, is := find(before, k.condition), find(after, k.condition); isTrue(after, k.condition) &&
			(!isTrue(before, k.condition) || k.repeated && (was.Reason != is.Reason || was.Message != is.Message)) {
			emit(k.event, is.Reason, is.Message)
		}
	}
	if is := find(after, kubeflowv1.ConditionSuspended); is != nil && is.Reason == reasonResumed && isTrue(before, kubeflowv1.ConditionSuspended) {
		emit(corev1.EventTypeNormal, is.Reason, is.Message)
	}
	if !isTrue(after, kubeflowv1.ConditionCreated) {
		return events
	}
	was, is := find(before, kubeflowv1.ConditionCreated), find(after, kubeflowv1.ConditionCreated)
	if was == nil {
		was = &kubeflowv1.JobCondition{}
	}
	for _, warning := range warnings {
		if strings.Contains(is.Message, warning.Message) && !strings.Contains(was.Message, warning.Message) {
			emit(corev1.EventTypeWarning, warning.Reason, warning.Message)
		}
	}
	if specNotApplied(is.Reason) && (was.Reason != is.Reason || was.Message != is.Message) {
		emit(corev1.EventTypeWarning, is.Reason, is.Message)
	}
	return events
}
