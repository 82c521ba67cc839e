// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
func reasonOf(kind string) string { return kubeflowv1.Kind + kind }

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

// Next is the status of a job after what was seen and what was planned for it. What a status has once said of the past
// (that the job has finished, when it started) stays, also when its PaddleJob is gone.
func Next(v *State, plan *Plan) *kubeflowv1.JobStatus {
	next, made := v.Job.Status.DeepCopy(), v.Made()
	if v.Job.DeletionTimestamp != nil || ManagedExternally(v.Job) || made == nil && isTerminal(next) {
		return next
	}
	s := &conditionSetter{next: next, job: v.Job.Name, exists: made != nil, now: metav1.NewTime(v.Now).Rfc3339Copy()}
	if s.exists {
		s.made = made.Status
	}
	for _, c := range s.made.Conditions {
		s.seen.Conditions = append(s.seen.Conditions, kubeflowv1.JobCondition{
			Type: c.Type, Status: corev1.ConditionStatus(c.Status), Reason: c.Reason, Message: fieldPaths.Replace(c.Message),
		})
	}
	if !isTerminal(next) {
		s.created(plan)
		s.active(plan)
		s.ended()
	}
	next.StartTime = cmp.Or(next.StartTime, s.made.StartTime.DeepCopy())
	if isTerminal(next) {
		next.CompletionTime = cmp.Or(next.CompletionTime, s.made.CompletionTime.DeepCopy(), &s.now)
	}
	for name := range v.Job.Spec.PaddleReplicaSpecs {
		s.count(roleOf(name))
	}
	return next
}

// isTerminal reports whether the status is that of a finished job, also if another controller wrote it.
func isTerminal(status *kubeflowv1.JobStatus) bool {
	return isTrue(status, batchv1.ConditionSucceeded) || isTrue(status, batchv1.ConditionFailed)
}

func isTrue(status *kubeflowv1.JobStatus, kind string) bool {
	return find(status, kind).Status == corev1.ConditionTrue
}

// find returns a condition, an empty one if the status has none of the type.
func find(status *kubeflowv1.JobStatus, kind string) *kubeflowv1.JobCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return &status.Conditions[i]
		}
	}
	return &kubeflowv1.JobCondition{}
}

// conditionSetter writes a status. Its conditions are Kubeflow's, whose types a PaddleJob has too, and Stalled.
type conditionSetter struct {
	next *kubeflowv1.JobStatus
	// job is the job's name.
	job string
	// made is the status of the PaddleJob, an empty one if none exists, and seen has its conditions in Kubeflow's terms.
	made   batchv1.PaddleJobStatus
	seen   kubeflowv1.JobStatus
	exists bool
	now    metav1.Time
}

// set writes one condition. The last condition is what tools show as the job's state, so that what is so stands behind
// what is not, in the order in which it came to be.
func (s *conditionSetter) set(kind string, status corev1.ConditionStatus, reason, message string) {
	made := kubeflowv1.JobCondition{Type: kind, Status: status, Reason: reason, Message: message, LastUpdateTime: s.now, LastTransitionTime: s.now}
	if old := find(s.next, kind); old.Status == status {
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

// unset makes a condition False that is True, and says nothing where it is not.
func (s *conditionSetter) unset(kind, reason, message string) {
	if isTrue(s.next, kind) {
		s.set(kind, corev1.ConditionFalse, reason, message)
	}
}

// follow makes a condition True while it is True of the PaddleJob, with a message, or that of the PaddleJob if it is empty. The reason and
// the message after it are of the condition that is False then.
func (s *conditionSetter) follow(kind, message, reasonAfter, messageAfter string) {
	if c := find(&s.seen, kind); c.Status == corev1.ConditionTrue {
		s.set(kind, corev1.ConditionTrue, reasonOf(kind), cmp.Or(message, c.Message))
		return
	}
	s.unset(kind, reasonAfter, messageAfter)
}

func (s *conditionSetter) says(what string) string {
	return fmt.Sprintf("PaddleJob %s is %s.", s.job, strings.ToLower(what))
}

// created sets the condition that the job was created, with the warnings, and the reason for which it does not run yet.
func (s *conditionSetter) created(plan *Plan) {
	if !s.exists {
		if why := cmp.Or(plan.Waiting, plan.Stalled); why != nil && !isTrue(s.next, batchv1.ConditionCreated) {
			s.set(batchv1.ConditionCreated, corev1.ConditionFalse, why.Reason, why.Message)
		}
		return
	}
	seen := find(&s.seen, batchv1.ConditionCreated)
	reason, lines := reasonOf(batchv1.ConditionCreated), []string{builder.Messages(plan.Warnings), seen.Message}
	switch {
	case plan.SpecNotSynced != nil:
		reason, lines[0] = plan.SpecNotSynced.Reason, plan.SpecNotSynced.Message
	case specNotApplied(seen.Reason) || lifecycle.IsRefusal(seen.Reason):
		reason = seen.Reason
	}
	for _, kind := range []string{batchv1.ConditionScheduled, batchv1.ConditionRunning, batchv1.ConditionLauncherUsable} {
		c := find(&s.seen, kind)
		if c.Status == corev1.ConditionFalse && (kind == batchv1.ConditionLauncherUsable || lifecycle.IsWaitingReason(c.Reason)) {
			lines = append(lines, c.Reason+": "+c.Message)
		}
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return line == "" })
	s.set(batchv1.ConditionCreated, corev1.ConditionTrue, reason, cmp.Or(strings.Join(lines, "; "), s.says(batchv1.ConditionCreated)))
}

func specNotApplied(reason string) bool {
	return reason == lifecycle.ReasonSpecChangeNotApplied || reason == lifecycle.ReasonSpecChangeRefused
}

// active sets the conditions of a job that has not ended.
func (s *conditionSetter) active(plan *Plan) {
	if s.exists {
		s.follow(batchv1.ConditionSuspended, s.says(batchv1.ConditionSuspended), reasonResumed, s.says("resumed"))
		s.follow(batchv1.ConditionRestarting, "", reasonRestarted, "")
	}
	reason, message := reasonNotRunning, ""
	for _, kind := range []string{batchv1.ConditionRestarting, batchv1.ConditionSuspended} {
		if isTrue(s.next, kind) {
			reason, message = reasonOf(kind), s.says(kind)
		}
	}
	s.follow(batchv1.ConditionRunning, s.says(batchv1.ConditionRunning), reason, message)
	if plan.Stalled != nil {
		s.set(batchv1.ConditionStalled, corev1.ConditionTrue, plan.Stalled.Reason, plan.Stalled.Message)
	} else if c := find(&s.seen, batchv1.ConditionStalled); c.Status == corev1.ConditionTrue {
		s.set(batchv1.ConditionStalled, corev1.ConditionTrue, c.Reason, c.Message)
	} else {
		s.unset(batchv1.ConditionStalled, reasonProceeding, "")
	}
}

// ended sets the condition with which the job has finished, once.
func (s *conditionSetter) ended() {
	kind, message := batchv1.ConditionSucceeded, s.says("successfully completed")
	if isTrue(&s.seen, batchv1.ConditionFailed) {
		kind, message = batchv1.ConditionFailed, find(&s.seen, batchv1.ConditionFailed).Message
	} else if !isTrue(&s.seen, batchv1.ConditionSucceeded) {
		return
	}
	s.unset(batchv1.ConditionStalled, reasonProceeding, "")
	for _, active := range []string{batchv1.ConditionSuspended, batchv1.ConditionRestarting, batchv1.ConditionRunning} {
		s.unset(active, reasonOf(kind), "")
	}
	s.set(kind, corev1.ConditionTrue, reasonOf(kind), message)
}

// count counts the pods of a role. Those of a finished job are never fewer than they were.
func (s *conditionSetter) count(role kubeflowv1.ReplicaType) {
	if role == "" {
		return
	}
	seen := map[kubeflowv1.ReplicaType]*batchv1.ResourceStatus{kubeflowv1.Master: s.made.PS, kubeflowv1.Worker: s.made.Worker}[role]
	count := cmp.Or(s.next.ReplicaStatuses[role], &kubeflowv1.ReplicaStatus{})
	count.Active, count.Selector = 0, podLabels(s.job, role).String()
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

// eventTypes are of the events when a condition comes to be True. Warnings are emitted again with another reason or message.
var eventTypes = []struct{ condition, event string }{
	{condition: batchv1.ConditionCreated, event: corev1.EventTypeNormal},
	{condition: batchv1.ConditionStalled, event: corev1.EventTypeWarning},
	{condition: batchv1.ConditionRestarting, event: corev1.EventTypeWarning},
	{condition: batchv1.ConditionSuspended, event: corev1.EventTypeNormal},
	{condition: batchv1.ConditionRunning, event: corev1.EventTypeNormal},
	{condition: batchv1.ConditionSucceeded, event: corev1.EventTypeNormal},
	{condition: batchv1.ConditionFailed, event: corev1.EventTypeWarning},
}

// Events returns the events for the changes between two statuses. A status that was written has none again, so a restarted
// controller repeats no event.
func Events(before, after *kubeflowv1.JobStatus, warnings []builder.Cause) (events []lifecycle.Event) {
	emit := func(kind, reason, message string) {
		events = append(events, lifecycle.Event{Type: kind, Reason: reason, Message: message})
	}
	changed := func(kind string) bool {
		was, is := find(before, kind), find(after, kind)
		return was.Reason != is.Reason || was.Message != is.Message
	}
	for _, k := range eventTypes {
		if isTrue(after, k.condition) && (!isTrue(before, k.condition) || k.event == corev1.EventTypeWarning && changed(k.condition)) {
			is := find(after, k.condition)
			emit(k.event, is.Reason, is.Message)
		}
	}
	if is := find(after, batchv1.ConditionSuspended); is.Reason == reasonResumed && isTrue(before, batchv1.ConditionSuspended) {
		emit(corev1.EventTypeNormal, is.Reason, is.Message)
	}
	was, is := find(before, batchv1.ConditionCreated), find(after, batchv1.ConditionCreated)
	if is.Status != corev1.ConditionTrue {
		return events
	}
	for _, warning := range warnings {
		if strings.Contains(is.Message, warning.Message) && !strings.Contains(was.Message, warning.Message) {
			emit(corev1.EventTypeWarning, warning.Reason, warning.Message)
		}
	}
	if specNotApplied(is.Reason) && changed(batchv1.ConditionCreated) {
		emit(corev1.EventTypeWarning, is.Reason, is.Message)
	}
	return events
}
