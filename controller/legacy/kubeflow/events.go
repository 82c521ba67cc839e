// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/lifecycle"
)

// kinds of events by the condition that came to be so.
var kinds = []struct {
	condition kubeflowv1.ConditionType
	event     string
	// again tells it again with another reason or message.
	again bool
}{
	{condition: kubeflowv1.ConditionCreated, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionStalled, event: corev1.EventTypeWarning, again: true},
	{condition: kubeflowv1.ConditionRestarting, event: corev1.EventTypeWarning, again: true},
	{condition: kubeflowv1.ConditionSuspended, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionRunning, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionSucceeded, event: corev1.EventTypeNormal},
	{condition: kubeflowv1.ConditionFailed, event: corev1.EventTypeWarning},
}

// Events are what changes between two statuses are worth. A status that was written tells nothing again, so a restarted
// controller repeats no event.
func Events(before, after *kubeflowv1.JobStatus, warnings []builder.Cause) []lifecycle.Event {
	var events []lifecycle.Event
	warn := func(kind, reason, message string) {
		events = append(events, lifecycle.Event{Type: kind, Reason: reason, Message: message})
	}
	for _, k := range kinds {
		was, is := find(before, k.condition), find(after, k.condition)
		if is == nil || is.Status != corev1.ConditionTrue {
			continue
		}
		if was == nil || was.Status != is.Status || k.again && (was.Reason != is.Reason || was.Message != is.Message) {
			warn(k.event, is.Reason, is.Message)
		}
	}
	if is := find(after, kubeflowv1.ConditionSuspended); is != nil && is.Reason == reasonResumed && isTrue(before, kubeflowv1.ConditionSuspended) {
		warn(corev1.EventTypeNormal, is.Reason, is.Message)
	}
	was, is := find(before, kubeflowv1.ConditionCreated), find(after, kubeflowv1.ConditionCreated)
	if is == nil || is.Status != corev1.ConditionTrue {
		return events
	}
	if was == nil {
		was = &kubeflowv1.JobCondition{}
	}
	for _, notice := range warnings {
		if strings.Contains(is.Message, notice.Message) && !strings.Contains(was.Message, notice.Message) {
			warn(corev1.EventTypeWarning, notice.Reason, notice.Message)
		}
	}
	specNotSynced := is.Reason == lifecycle.ReasonSpecChangeNotApplied || is.Reason == lifecycle.ReasonSpecChangeRefused
	if specNotSynced && (was.Reason != is.Reason || was.Message != is.Message) {
		warn(corev1.EventTypeWarning, is.Reason, is.Message)
	}
	return events
}
