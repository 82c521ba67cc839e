// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// Settle is how long a gang may wait before its waiting is told as such: every job waits a moment, and a story that says
// so for each of them hides the ones that matter.
const Settle = 10 * time.Second

// Reasons for which a gang is not placed.
const (
	reasonNotCreated      = "NotCreated"
	reasonRestarting      = "Restarting"
	reasonPlacing         = "Placing"
	reasonPlaced          = "GangPlaced"
	ReasonWaitingForQueue = "WaitingForQueue"
	ReasonWaitingForPods  = "WaitingForPods"
	ReasonWaitingForGang  = "WaitingForGang"
	ReasonPodsRefused     = policy.ReasonPodsRefused
)

// Waits says whether it is a reason for which a gang waits longer than each does for a moment.
func Waits(reason string) bool {
	return slices.Contains([]string{ReasonWaitingForQueue, ReasonWaitingForPods, ReasonPodsRefused, ReasonWaitingForGang}, reason)
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

// pendingReason says why the gang is not placed.
func pendingReason(v *view.View, now time.Time) (reason, message string) {
	switch {
	case v.VolcanoJob == nil:
		return reasonNotCreated, ""
	case v.VolcanoJob.Status.State.Phase == vcbatch.Restarting:
		return reasonRestarting, "the pods of the failed gang are being deleted"
	case Settling(v, now) > 0:
		return reasonPlacing, "the scheduler looks for room for the whole gang"
	case !v.LetIn():
		return ReasonWaitingForQueue, fmt.Sprintf(
			"queue %q has not let the job in yet: it is full, or the cluster has too little of what the gang asks for%s",
			v.VolcanoJob.Spec.Queue, unschedulable(v.PodGroup, ": "))
	}
	if made, total := int32(len(v.Pods)), v.Total(); made < total {
		if v.Refused != "" {
			return ReasonPodsRefused, fmt.Sprintf("Volcano has made %d of %d pods, and the API server refuses the rest: %s", made, total, v.Refused)
		}
		return ReasonWaitingForPods, fmt.Sprintf(
			"Volcano has made %d of %d pods: kubectl describe vcjob -n %s %s says why", made, total, v.Job.Namespace, v.Job.Name)
	}
	if text := unschedulable(v.PodGroup, ""); text != "" {
		return ReasonWaitingForGang, text
	}
	return ReasonWaitingForGang, "the gang is not placed yet"
}

// conditionPlaced is the type of the condition in which the scheduler's plugin paddle says where a gang runs or why it
// does not.
const conditionPlaced vcscheduling.PodGroupConditionType = "PaddlePlaced"

// unschedulable is what the scheduler says of a PodGroup, behind a prefix, or nothing: the plugin's words, which begin
// with the class of the reason, or Volcano's where the plugin has none.
func unschedulable(group *vcscheduling.PodGroup, prefix string) string {
	if group == nil {
		return ""
	}
	for i := range group.Status.Conditions {
		c := &group.Status.Conditions[i]
		if c.Type == conditionPlaced && c.Status == corev1.ConditionFalse && c.Message != "" {
			text, _, _ := strings.Cut(c.Message, "\n") // what follows are details
			return prefix + c.Reason + ": " + text
		}
	}
	for i := range group.Status.Conditions {
		c := &group.Status.Conditions[i]
		if c.Type == vcscheduling.PodGroupUnschedulableType && c.Status == corev1.ConditionTrue && c.Message != "" {
			return prefix + origin(c.Message)
		}
	}
	return ""
}

// origin is the part of Volcano's message that says why; what stands before it only counts tasks by status.
func origin(message string) string {
	_, why, _ := strings.Cut(message, "Origin reason is")
	return cmp.Or(strings.TrimLeft(why, ": "), message)
}

// Settling is how much longer a gang that is not placed counts as one that only takes its moment.
func Settling(v *view.View, now time.Time) time.Duration {
	if v.VolcanoJob == nil {
		return 0
	}
	since := v.VolcanoJob.CreationTimestamp.Time
	if at := v.VolcanoJob.Status.State.LastTransitionTime.Time; v.VolcanoJob.Status.RetryCount > 0 && at.After(since) {
		since = at
	}
	return max(Settle-now.Sub(since), 0)
}
