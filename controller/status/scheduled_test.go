// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// pluginSays gives the PodGroup the condition of the scheduler's plugin, some time ago, beside Volcano's own.
func pluginSays(status corev1.ConditionStatus, reason, message string, ago time.Duration) change {
	return func(v *view.View) {
		v.PodGroup.Status.Conditions = []vcscheduling.PodGroupCondition{
			{Type: vcscheduling.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Reason: "NotEnoughResources", Message: "3/3 tasks in gang unschedulable"},
			{Type: conditionPaddleScheduled, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now.Add(-ago))},
		}
	}
}

func created(ago time.Duration) change {
	return func(v *view.View) { v.VolcanoJob.CreationTimestamp = metav1.NewTime(now.Add(-ago)) }
}

func inPhase(phase vcscheduling.PodGroupPhase) change {
	return func(v *view.View) { v.PodGroup.Status.Phase = phase }
}

// The reason that the plugin gives is the condition's, and the first line of its message.
func TestReasonOfThePlugin(t *testing.T) {
	t.Parallel()
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	unplaced := pods(view.Unplaced, view.Unplaced, view.Unplaced)
	young, waits := created(3*time.Second), "the scheduler looks for room for the whole gang"
	for name, tc := range map[string]struct {
		with    []change
		reason  string
		message string
		settles time.Duration
	}{
		"no room": {
			with:   []change{unplaced, pluginSays(no, "InsufficientResources", "no rack has 8 GPUs: 3 left", time.Minute)},
			reason: "InsufficientResources", message: "no rack has 8 GPUs: 3 left",
		},
		"of a gang that is young": {
			with: []change{young, unplaced, pluginSays(no, "InsufficientResources", "none", time.Second)}, reason: "InsufficientResources", message: "none",
		},
		"for an instant": {
			with:   []change{unplaced, pluginSays(no, "InsufficientResources", "none", 400*time.Millisecond)},
			reason: "Placing", message: waits, settles: 600 * time.Millisecond,
		},
		"a reason that nearly every gang has for a moment": {
			with:   []change{unplaced, pluginSays(no, "TerminatingPods", "there is room soon", 4*time.Second)},
			reason: "Placing", message: waits, settles: 6 * time.Second,
		},
		"that reason for long": {
			with: []change{unplaced, pluginSays(no, "TerminatingPods", "there is room soon", 10*time.Second)}, reason: "TerminatingPods", message: "there is room soon",
		},
		"before the queue": {
			with:   []change{inPhase(vcscheduling.PodGroupPending), pluginSays(no, "QueueCapacity", "queue q has room for 6 of 8 GPUs", time.Minute)},
			reason: "QueueCapacity", message: "queue q has room for 6 of 8 GPUs",
		},
		"without pods": {
			with:   []change{pods(view.Unplaced), pluginSays(no, "WaitingForPods", "2 workers are not created", time.Minute)},
			reason: "WaitingForPods", message: "2 workers are not created",
		},
		"the API server's comes first": {
			with: []change{pods(view.Unplaced), pluginSays(no, "WaitingForPods", "2 workers are not created", time.Minute), func(v *view.View) {
				v.Refused = `pods "job-worker-0" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1`
			}},
			reason:  "QuotaExceeded",
			message: `Volcano has made 1 of 3 pods, and the API server refuses the rest: pods "job-worker-0" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1`,
		},
		"it says where another gang runs": {
			with: []change{unplaced, pluginSays(yes, "Placed", "3 pods are on 1 node", time.Minute)}, reason: "WaitingForGang", message: "3/3 tasks in gang unschedulable",
		},
		"it gives no reason": {
			with: []change{unplaced, pluginSays(no, "", "", time.Minute)}, reason: "WaitingForGang", message: "3/3 tasks in gang unschedulable",
		},
		"it says nothing, and the gang is young": {with: []change{young, unplaced}, reason: "Placing", message: waits, settles: 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := seen(vcbatch.Pending, tc.with...)
			status := next(v)
			require.Equal(t, "False "+tc.reason, conditionsOf(status)["Scheduled"])
			require.Equal(t, tc.message, message(status, "Scheduled"))
			require.Equal(t, tc.settles, Settling(v, now))
		})
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"InsufficientResources", "QueueCapacity", "SomeOther", "WaitingForQueue", "WaitingForGang", "WaitingForPods", "QuotaExceeded", "ImagePullFailed"} {
		require.True(t, Waits(reason), reason)
	}
	for _, reason := range []string{"", "Placing", "NotCreated", "Restarting", "Suspended", "NotScheduled", "WaitingForAddresses", "PodsStarting", "Completed", "Failed"} {
		require.False(t, Waits(reason), reason)
	}
}
