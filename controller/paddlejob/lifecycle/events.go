// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

// Events returns the events for the changes between two statuses. A status that was written has none again, so a restarted
// controller repeats no event.
func Events(before, after *v1.PaddleJobStatus, warnings []builder.Cause) []Event {
	var events []Event
	emit := func(kind, reason, message string) {
		events = append(events, Event{Type: kind, Reason: reason, Message: message})
	}
	if before.ObservedGeneration != after.ObservedGeneration || len(before.Conditions) == 0 {
		for _, w := range warnings {
			emit(corev1.EventTypeWarning, w.Reason, w.Message)
		}
	}
	if c := changed(before, after, v1.ConditionStalled); c != nil && c.Status == metav1.ConditionTrue {
		emit(corev1.EventTypeWarning, c.Reason, c.Message)
	}
	if c := changed(before, after, v1.ConditionCreated); c != nil {
		switch {
		case slices.Contains([]string{ReasonReplacing, ReasonTakingOver, ReasonPredecessor}, c.Reason):
			emit(corev1.EventTypeNormal, c.Reason, c.Message)
		case c.Reason == ReasonSpecChangeNotApplied || c.Reason == ReasonSpecChangeRefused || IsRefusal(c.Reason):
			emit(corev1.EventTypeWarning, c.Reason, c.Message)
		}
	}
	if c := changed(before, after, v1.ConditionSuspended); c != nil {
		switch c.Reason {
		case ReasonSuspended, reasonResumed:
			emit(corev1.EventTypeNormal, c.Reason, eventOfSuspension[c.Reason])
		}
	}
	if after.Restarts > before.Restarts {
		if c := meta.FindStatusCondition(after.Conditions, v1.ConditionRestarting); c != nil {
			emit(corev1.EventTypeWarning, reasonRestarting, c.Message)
		}
	}
	for _, kind := range []string{v1.ConditionScheduled, v1.ConditionRunning} {
		if c := changed(before, after, kind); c != nil && c.Status == metav1.ConditionFalse && IsWaitingReason(c.Reason) {
			emit(corev1.EventTypeWarning, c.Reason, c.Message)
		}
	}
	if c := changed(before, after, v1.ConditionLauncherUsable); c != nil {
		emit(corev1.EventTypeWarning, c.Reason, c.Message) // the job has the condition only where it is False
	}
	if c := changed(before, after, v1.ConditionRunning); c != nil && c.Status == metav1.ConditionTrue {
		emit(corev1.EventTypeNormal, v1.ConditionRunning, "all pods of the gang run")
	}
	if observed.Outcome(after) != "" && observed.Outcome(before) == "" {
		events = append(events, completionEvent(after))
	}
	return events
}

// changed is the condition after a change of its status, reason, message or, where it warns, generation; nil without.
func changed(before, after *v1.PaddleJobStatus, kind string) *metav1.Condition {
	was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(after.Conditions, kind)
	if is == nil {
		return nil
	}
	if was == nil || was.Status != is.Status || was.Reason != is.Reason {
		return is
	}
	warns := kind == v1.ConditionStalled || kind == v1.ConditionCreated
	if warns && (was.Message != is.Message || was.ObservedGeneration != is.ObservedGeneration) {
		return is
	}
	return nil
}

func completionEvent(after *v1.PaddleJobStatus) Event {
	if c := meta.FindStatusCondition(after.Conditions, v1.ConditionFailed); c != nil {
		return Event{Type: corev1.EventTypeWarning, Reason: string(v1.Failed), Message: c.Message}
	}
	text := "every worker has succeeded"
	if c := meta.FindStatusCondition(after.Conditions, v1.ConditionSucceeded); c != nil && c.Message != "" {
		text = c.Message
	}
	if after.StartTime != nil && after.CompletionTime != nil {
		if took := after.CompletionTime.Sub(after.StartTime.Time); took > 0 {
			text += fmt.Sprintf(" after %s of training", took.Round(time.Second))
		}
	}
	return Event{Type: corev1.EventTypeNormal, Reason: string(v1.Completed), Message: text}
}
