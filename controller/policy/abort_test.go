// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestAbort(t *testing.T) {
	t.Parallel()
	// failed is worker 0, which failed so long ago.
	failed := func(ago time.Duration) change {
		return func(v *view.View) {
			exits(1)(v)
			v.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(ago)
		}
	}
	first := func(does func(pod *corev1.Pod)) change { return func(v *view.View) { does(v.Pods[0]) } }
	// other is worker 1.
	other := func(state view.State, does func(pod *corev1.Pod)) change {
		return func(v *view.View) {
			pod := podOf("worker", 1, state, v.VolcanoJob)
			does(pod)
			v.Pods = append(v.Pods, pod)
		}
	}
	servers := with("ps", view.Running)
	// evicted has been on its way out for so long; ends is when its time is over.
	evicted := func(since, ends time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.DeletionTimestamp = before(ends)
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "PreemptionByScheduler", LastTransitionTime: *before(since)}}
		}
	}
	stays := func(pod *corev1.Pod) { evicted(15*time.Second, 0)(pod); pod.DeletionTimestamp = nil }
	runs := func(*corev1.Pod) {}
	restarting := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Restarting })
	gone := func(v *view.View) {
		v.Failure = &view.Failure{Reason: view.ReasonPodEvicted, Attempt: v.VolcanoJob.Status.RetryCount}
	}
	alone := func(v *view.View) { v.VolcanoJob.Spec.Policies = nil }
	server := func(v *view.View) {
		v.Pods = append(v.Pods, podOf("ps", 0, view.Failed, v.VolcanoJob))
		view.SortPods(v.Pods)
	}
	earlier := func(action vcbus.Action) change {
		return func(v *view.View) {
			v.VolcanoJob.Spec.Policies = []vcbatch.LifecyclePolicy{{Event: vcbus.PodFailedEvent, Action: action}}
		}
	}
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		with      []change
		retrying  bool
		does      []string
		lookAgain time.Duration
	}{
		"nothing failed":                  {phase: vcbatch.Running, with: []change{servers, with("worker", view.Running, view.Running), restarting}},
		"a failure":                       {phase: vcbatch.Running, with: []change{failed(0), servers, other(view.Running, runs)}, retrying: true},
		"it is in the status":             {phase: vcbatch.Running, with: []change{failed(0), servers, other(view.Running, runs), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"before all pods run":             {phase: vcbatch.Pending, with: []change{failed(0), other(view.Unplaced, runs), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"nobody knows when":               {phase: vcbatch.Running, with: []change{with("worker", view.Failed), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"Volcano restarts it":             {phase: vcbatch.Restarting, with: []change{failed(time.Hour), restarting}},
		"told to end":                     {phase: vcbatch.Running, with: []change{failed(0), first(func(pod *corev1.Pod) { pod.Annotations[keys.OutOfSync] = "true" }), restarting}},
		"of an earlier attempt":           {phase: vcbatch.Pending, with: []change{failed(0), first(func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = "0" }), retried, restarting}},
		"it has started again, seen late": {phase: vcbatch.Running, with: []change{failed(0), other(view.Running, func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = "1" }), restarting}},

		"it was evicted":                         {phase: vcbatch.Running, with: []change{failed(10 * time.Second), first(evicted(15*time.Second, -15*time.Second)), servers, other(view.Running, runs), restarting}, lookAgain: 45 * time.Second},
		"a peer is evicted":                      {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(view.Running, evicted(15*time.Second, -15*time.Second)), restarting}, lookAgain: 45 * time.Second},
		"a peer stays too long":                  {phase: vcbatch.Running, with: []change{failed(31 * time.Second), servers, other(view.Running, evicted(60*time.Second, 30*time.Second)), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"a peer was evicted":                     {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, gone, restarting}, lookAgain: 20 * time.Second},
		"a peer was evicted, and Volcano waits":  {phase: vcbatch.Running, with: []change{failed(30 * time.Second), servers, gone, restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"a peer was evicted by its node":         {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(view.Failed, stays), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"a peer is evicted after it":             {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(view.Running, evicted(9*time.Second, -21*time.Second)), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"a worker that starts again alone":       {phase: vcbatch.Running, with: []change{failed(0), other(view.Running, runs), servers, alone, restarting}},
		"a server does not":                      {phase: vcbatch.Running, with: []change{with("worker", view.Running, view.Running), server, alone, restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"a server, and a worker is evicted":      {phase: vcbatch.Running, with: []change{server, other(view.Running, evicted(15*time.Second, -15*time.Second)), alone, restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
		"Volcano aborts those of earlier times":  {phase: vcbatch.Running, with: []change{failed(10 * time.Second), earlier(vcbus.AbortJobAction), restarting}, lookAgain: 20 * time.Second},
		"or restarts them, and has not for long": {phase: vcbatch.Running, with: []change{failed(30 * time.Second), earlier(vcbus.RestartJobAction), restarting}, retrying: true, does: []string{"AbortJob"}, lookAgain: CommandPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := created(t, tc.phase, tc.with...)
			v.Now = seenAt
			var plan Plan
			plan.abort(v)
			require.Equal(t, tc.does, done(plan))
			require.Equal(t, tc.lookAgain, plan.LookAgain)
			require.Equal(t, tc.retrying, plan.Retrying != nil)
		})
	}
}

func retried(v *view.View) { v.VolcanoJob.Status.RetryCount = 1 }
