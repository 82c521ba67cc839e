// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// How long a reason holds before the status tells it.
const (
	// settle is of reasons that nearly every gang has for a moment on its way to its nodes.
	settle = 10 * time.Second
	// hold is of all others: a gang that one scheduling session has no nodes for may get them in the next.
	hold = time.Second
)

// Reasons of the condition Scheduled. If the scheduler's plugin gives a reason in the PodGroup, the condition has that one.
const (
	reasonNotCreated      = "NotCreated"
	reasonRestarting      = "Restarting"
	reasonPlacing         = "Placing"
	reasonPlaced          = "GangPlaced"
	ReasonWaitingForQueue = "WaitingForQueue"
	ReasonWaitingForPods  = "WaitingForPods"
	ReasonWaitingForGang  = "WaitingForGang"
)

// Waits reports whether a reason of Scheduled or Running being False is one for which a job waits longer than every job does.
func Waits(reason string) bool {
	return reason != "" && !slices.Contains([]string{
		reasonNotCreated, reasonRestarting, reasonPlacing, policy.ReasonSuspended,
		reasonNotScheduled, reasonWaitingForAddresses, reasonPodsStarting, reasonCompleted, reasonFailed,
	}, reason)
}

// passing reports whether nearly every gang has a reason for a moment. All but the first two are the plugin's.
func passing(reason string) bool {
	return slices.Contains([]string{
		ReasonWaitingForQueue, ReasonWaitingForGang,
		"WaitingToBeEnqueued", ReasonWaitingForPods, "AssignmentOutdated", "TerminatingPods",
	}, reason)
}

func (s *story) scheduled(placed bool) {
	if placed {
		s.set(v1.ConditionScheduled, true, reasonPlaced, "")
		return
	}
	if s.plan.Retrying != nil {
		s.set(v1.ConditionScheduled, false, reasonRestarting, s.plan.Retrying.Message)
		return
	}
	reason, message := pendingReason(s.v, s.now)
	s.set(v1.ConditionScheduled, false, reason, message)
}

// pendingReason is why the gang is not placed.
func pendingReason(v *view.View, now time.Time) (reason, message string) {
	made, total := int32(len(v.Pods)), v.Total()
	switch {
	case v.VolcanoJob == nil:
		return reasonNotCreated, ""
	case v.VolcanoJob.Status.State.Phase == vcbatch.Restarting:
		return reasonRestarting, "the pods of the failed gang are being deleted"
	case made < total && v.Refused != "":
		return policy.RefusalReason(v.Refused), fmt.Sprintf("Volcano has made %d of %d pods, and the API server refuses the rest: %s", made, total, v.Refused)
	case Settling(v, now) > 0:
		return reasonPlacing, "the scheduler looks for room for the whole gang"
	}
	if c := notPlaced(v.PodGroup); c != nil {
		return c.Reason, c.Message
	}
	switch {
	case !v.LetIn():
		message = fmt.Sprintf("queue %q has not let the job in yet: it is full, or the cluster has too little of what the gang asks for", v.VolcanoJob.Spec.Queue)
		if text := unschedulable(v.PodGroup); text != "" {
			message += ": " + text
		}
		return ReasonWaitingForQueue, message
	case made < total:
		return ReasonWaitingForPods, fmt.Sprintf(
			"Volcano has made %d of %d pods: kubectl describe vcjob -n %s %s says why", made, total, v.Job.Namespace, v.Job.Name)
	}
	return ReasonWaitingForGang, cmp.Or(unschedulable(v.PodGroup), "the gang is not placed yet")
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

// unschedulable is what Volcano says of a gang that is not placed, "" if it says nothing.
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

// Settling is how much longer a gang that is not placed counts as one that is being placed: until a reason that the plugin
// gives has held for long enough, or where the plugin gives none, until the gang is old enough.
func Settling(v *view.View, now time.Time) time.Duration {
	if v.VolcanoJob == nil {
		return 0
	}
	since, wait := v.VolcanoJob.CreationTimestamp.Time, settle
	if at := v.VolcanoJob.Status.State.LastTransitionTime.Time; v.VolcanoJob.Status.RetryCount > 0 && at.After(since) {
		since = at
	}
	if c := notPlaced(v.PodGroup); c != nil {
		since = c.LastTransitionTime.Time
		if !passing(c.Reason) {
			wait = hold
		}
	}
	return max(wait-now.Sub(since), 0)
}
