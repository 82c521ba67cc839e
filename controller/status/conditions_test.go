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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestStory(t *testing.T) {
	t.Parallel()
	allRun := pods(view.Running, view.Running, view.Running)
	running := next(seen(vcbatch.Running, allRun))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True LetIn", "Scheduled": "True GangPlaced", "Running": "True Training",
	}, conditionsOf(running))

	running.Failures = 1
	restarting := next(seen(vcbatch.Restarting, was(running), retried(1), func(v *view.View) {
		v.Failure = &view.Failure{Attempt: 0, Reason: "PodFailed", Message: "job-worker-1 exited with code 3"}
	}))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "False Restarting", "Scheduled": "False Restarting", "Running": "False NotScheduled",
		"Restarting": "True PodFailed",
	}, conditionsOf(restarting))
	require.Equal(t, "restart 1 of 2: job-worker-1 exited with code 3", message(restarting, v1.ConditionRestarting))

	forgotten := next(seen(vcbatch.Pending, was(restarting), retried(1)))
	require.Equal(t, "restart 1 of 2: job-worker-1 exited with code 3", message(forgotten, v1.ConditionRestarting),
		"a controller that was restarted keeps what was known")

	again := next(seen(vcbatch.Running, was(forgotten), retried(1), allRun))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True LetIn", "Scheduled": "True GangPlaced", "Running": "True Training",
		"Restarting": "False Restarted",
	}, conditionsOf(again))

	ending := next(seen(vcbatch.Completing, was(again), retried(1), pods(view.Leaving, view.Succeeded, view.Succeeded)))
	require.Equal(t, conditionsOf(again), conditionsOf(ending))

	end := next(seen(vcbatch.Completed, was(ending), retried(1)))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True LetIn", "Scheduled": "True GangPlaced", "Running": "False Completed",
		"Restarting": "False Restarted", "Succeeded": "True WorkersSucceeded",
	}, conditionsOf(end))
}

// The condition lasts as long as the gang whose addresses it is about.
func TestLauncherUsable(t *testing.T) {
	t.Parallel()
	v := seen(vcbatch.Running, pods(view.Running, view.Running, view.Running))
	with := Next(v, &policy.Plan{LauncherUnusable: &render.Notice{Reason: policy.ReasonAddressPrefix, Message: "a prefix"}}, now)
	require.Equal(t, "False AddressPrefix", conditionsOf(with)["LauncherUsable"])
	require.Equal(t, "a prefix", message(with, v1.ConditionLauncherUsable))
	require.NotContains(t, conditionsOf(next(seen(vcbatch.Restarting, was(with), retried(1)))), "LauncherUsable")
	require.Contains(t, conditionsOf(next(seen(vcbatch.Failed, was(with), retried(3)))), "LauncherUsable", "it says why the job failed")
}

func TestFailedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase   vcbatch.JobPhase
		with    []change
		reason  string
		message string
	}{
		"a failure that was seen": {
			phase: vcbatch.Failed, with: []change{retried(3), func(v *view.View) {
				v.Failure = &view.Failure{Attempt: 2, Reason: "PodEvicted", Message: "job-ps-0 was evicted"}
			}},
			reason: "PodEvicted", message: "job-ps-0 was evicted; the job had been restarted 3 times before",
		},
		"a failure of an earlier attempt": {
			phase: vcbatch.Failed, with: []change{retried(3), func(v *view.View) {
				v.Failure = &view.Failure{Attempt: 1, Reason: "PodEvicted", Message: "job-ps-0 was evicted"}
			}},
			reason: ReasonUnknownFailure, message: "a pod failed or was evicted; the job had been restarted 3 times before",
		},
		"a failed pod that is still there": {
			phase: vcbatch.Failed, with: []change{retried(2), pods(view.Leaving, view.Succeeded, view.Failed)},
			reason: "PodFailed", message: "job-worker-1 exited with code 3; the job had been restarted twice before",
		},
		"at the first go": {
			phase: vcbatch.Failed, with: []change{pods(view.Leaving, view.Succeeded, view.Failed)},
			reason: "PodFailed", message: "job-worker-1 exited with code 3",
		},
		"Volcano gave up": {
			phase: vcbatch.Terminated, reason: policy.ReasonTerminated,
			message: "Volcano gave the job up: kubectl describe vcjob -n ml job says why",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := next(seen(tc.phase, tc.with...))
			require.Equal(t, "True "+tc.reason, conditionsOf(status)["Failed"])
			require.Equal(t, tc.message, message(status, v1.ConditionFailed))
			require.Equal(t, "False Failed", conditionsOf(status)["Running"])
		})
	}
}

func TestScheduledCondition(t *testing.T) {
	t.Parallel()
	group := func(phase vcscheduling.PodGroupPhase, text string) change {
		return func(v *view.View) {
			v.PodGroup.Status.Phase = phase
			v.PodGroup.Status.Conditions = []vcscheduling.PodGroupCondition{{
				Type: vcscheduling.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Message: text,
			}}
		}
	}
	unplaced := pods(view.Unplaced, view.Unplaced, view.Unplaced)
	for name, tc := range map[string]struct {
		phase   vcbatch.JobPhase
		with    []change
		reason  string
		message string
	}{
		"waits a moment": {
			with:   []change{func(v *view.View) { v.VolcanoJob.CreationTimestamp = metav1.NewTime(now.Add(-time.Second)) }},
			reason: "Placing", message: "the scheduler looks for room for the whole gang",
		},
		"waits a moment after a restart": {
			phase: vcbatch.Pending, with: []change{retried(1), func(v *view.View) {
				v.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now.Add(-time.Second))
			}},
			reason: "Placing", message: "the scheduler looks for room for the whole gang",
		},
		"no PodGroup": {
			with: []change{func(v *view.View) { v.PodGroup = nil }}, reason: "WaitingForQueue",
			message: `queue "q" has not let the job in yet: it is full, or the cluster has too little of what the gang asks for`,
		},
		"before the queue": {
			with: []change{group(vcscheduling.PodGroupPending, "no GPU left")}, reason: "WaitingForQueue",
			message: `queue "q" has not let the job in yet: it is full, or the cluster has too little of what the gang asks for: no GPU left`,
		},
		"pods are refused": {
			with: []change{group(vcscheduling.PodGroupInqueue, ""), pods(view.Unplaced)}, reason: "WaitingForPods",
			message: "Volcano has made 1 of 3 pods: kubectl describe vcjob -n ml job says why",
		},
		"no room": {
			with: []change{group(vcscheduling.PodGroupInqueue, "3/3 tasks in gang unschedulable"), unplaced}, reason: "WaitingForGang",
			message: "3/3 tasks in gang unschedulable",
		},
		"not said why": {
			with: []change{group(vcscheduling.PodGroupInqueue, ""), unplaced}, reason: "WaitingForGang", message: "the gang is not placed yet",
		},
		"restarting":  {phase: vcbatch.Restarting, with: []change{retried(1)}, reason: "Restarting", message: "the pods of the failed gang are being deleted"},
		"not created": {with: []change{func(v *view.View) { v.VolcanoJob = nil }}, reason: "NotCreated"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := next(seen(tc.phase, tc.with...))
			require.Equal(t, "False "+tc.reason, conditionsOf(status)["Scheduled"])
			require.Equal(t, tc.message, message(status, v1.ConditionScheduled))
		})
	}
}

func TestRunningCondition(t *testing.T) {
	t.Parallel()
	placed := pods(view.Starting, view.Running, view.Starting)
	v := seen(vcbatch.Pending, placed)
	status := Next(v, &policy.Plan{Missing: []string{"a", "b", "c", "d", "e", "f", "g"}}, now)
	require.Equal(t, "False WaitingForAddresses", conditionsOf(status)["Running"])
	require.Equal(t, "the pods start once all addresses are known; missing: a, b, c, d, e and 2 more", message(status, v1.ConditionRunning))

	status = next(v)
	require.Equal(t, "False PodsStarting", conditionsOf(status)["Running"])
	require.Equal(t, "not running yet: job-ps-0, job-worker-1", message(status, v1.ConditionRunning))

	for _, pod := range []*corev1.Pod{v.Pods[0], v.Pods[2]} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "x"`}}}}
	}
	status = Next(v, &policy.Plan{Missing: []string{"a"}}, now)
	require.Equal(t, "False ImagePullFailed", conditionsOf(status)["Running"], "what the addresses wait for")
	require.Equal(t, `2 of 3 pods cannot start, for example job-ps-0: Back-off pulling image "x"`, message(status, v1.ConditionRunning))
	v.Pods[2].Status.ContainerStatuses, v.Pods[0].Status.ContainerStatuses[0].State.Waiting = nil, &corev1.ContainerStateWaiting{Reason: "CreateContainerError"}
	status = next(v)
	require.Equal(t, "False CreateContainerError", conditionsOf(status)["Running"])
	require.Equal(t, "1 of 3 pods cannot start, for example job-ps-0", message(status, v1.ConditionRunning))

	v.VolcanoJob.Spec.Tasks[1].Template.Spec.Containers = []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{
		SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}},
	}}}}
	v.Pods[0].Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "token" not found`}
	require.Equal(t, "False SecretNotFound", conditionsOf(next(v))["Running"], "the cache has no specs of pods")
}

func TestPlanInConditions(t *testing.T) {
	t.Parallel()
	notice := &render.Notice{Reason: "Why", Message: "what to do"}
	none := seen("", func(v *view.View) { v.VolcanoJob = nil })
	operators := seen("", func(v *view.View) {
		v.VolcanoJob, v.Operator.Pods = nil, []*corev1.Pod{pod(render.RoleWorker, 0, view.Running)}
	})
	for name, tc := range map[string]struct {
		view             *view.View
		plan             policy.Plan
		stalled, created string
	}{
		"stalled":           {view: none, plan: policy.Plan{Stalled: notice}, stalled: "True Why", created: "False Stalled"},
		"waiting":           {view: none, plan: policy.Plan{Waiting: notice}, stalled: "False Proceeding", created: "False Why"},
		"not made yet":      {view: none, stalled: "False Proceeding", created: "False Creating"},
		"unapplied":         {view: seen(vcbatch.Running), plan: policy.Plan{Unapplied: notice}, stalled: "False Proceeding", created: "True Why"},
		"stalled later":     {view: seen(vcbatch.Running), plan: policy.Plan{Stalled: notice}, stalled: "True Why", created: "True VolcanoJobCreated"},
		"being replaced":    {view: seen(vcbatch.Pending), plan: policy.Plan{Waiting: notice}, stalled: "False Proceeding", created: "False Why"},
		"aborted":           {view: seen(vcbatch.Aborted), stalled: "True Aborted", created: "True VolcanoJobCreated"},
		"paddle-operator's": {view: operators, stalled: "False Proceeding", created: "True StartedByPaddleOperator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := Next(tc.view, &tc.plan, now)
			require.Equal(t, tc.stalled, conditionsOf(status)["Stalled"])
			require.Equal(t, tc.created, conditionsOf(status)["Created"])
		})
	}
}

func TestWarningsStayInTheCondition(t *testing.T) {
	t.Parallel()
	first := Next(seen(vcbatch.Pending), &policy.Plan{Warnings: []render.Notice{{Message: "one"}, {Message: "two"}}}, now)
	require.Equal(t, "one; two", message(first, v1.ConditionCreated))
	second := next(seen(vcbatch.Pending, was(first)))
	require.Equal(t, "one; two", message(second, v1.ConditionCreated))
	edited := next(seen(vcbatch.Pending, was(first), func(v *view.View) { v.Job.Generation = 2 }))
	require.Empty(t, message(edited, v1.ConditionCreated))
}

func TestEndOfPaddleOperatorsJobIsRecorded(t *testing.T) {
	t.Parallel()
	over := func(phase v1.Phase) change {
		return func(v *view.View) { v.VolcanoJob, v.Job.Status.Phase = nil, phase }
	}
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True StartedByPaddleOperator", "Running": "False Completed", "Succeeded": "True WorkersSucceeded",
	}, conditionsOf(next(seen("", over(v1.Completed)))))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True StartedByPaddleOperator", "Running": "False Failed", "Failed": "True PodFailedOrEvicted",
	}, conditionsOf(next(seen("", over(v1.Failed)))))
}

func TestJobFailsBeforeItsVolcanoJobIsMade(t *testing.T) {
	t.Parallel()
	tooLate := seen("", func(v *view.View) { v.VolcanoJob = nil })
	status := Next(tooLate, &policy.Plan{Failed: &render.Notice{Reason: policy.ReasonDeadlineExceeded, Message: "too long"}}, now)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "False DeadlineExceeded", "Running": "False Failed", "Failed": "True DeadlineExceeded",
	}, conditionsOf(status))
	require.Equal(t, conditionsOf(status), conditionsOf(next(seen("", was(status), func(v *view.View) { v.VolcanoJob = nil }))), "it stays so")
}

func TestSpecChangedAfterTheEnd(t *testing.T) {
	t.Parallel()
	end := next(seen(vcbatch.Completed))
	v := seen(vcbatch.Completed, was(end), func(v *view.View) { v.Job.Generation = 2 })
	later := Next(v, &policy.Plan{Unapplied: &render.Notice{Reason: "Late", Message: "too late"}}, now)
	require.Equal(t, "True Late", conditionsOf(later)["Created"])
	require.Equal(t, "True WorkersSucceeded", conditionsOf(later)["Succeeded"])
}

func TestDeletedJobKeepsItsConditions(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(view.Running, view.Running, view.Running)))
	leaving := next(seen(vcbatch.Running, was(running), func(v *view.View) { v.Job.DeletionTimestamp = &metav1.Time{} }))
	require.Equal(t, running.Conditions, leaving.Conditions)
}
