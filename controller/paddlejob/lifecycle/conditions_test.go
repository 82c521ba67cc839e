// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
)

func TestConditions(t *testing.T) {
	t.Parallel()
	allRun := pods(observed.Running, observed.Running, observed.Running)
	running := next(seen(vcbatch.Running, allRun))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True Admitted", "Scheduled": "True GangPlaced", "Running": "True Training",
	}, conditionsOf(running))

	running.Failures = 1
	restarting := next(seen(vcbatch.Restarting, was(running), retriedTimes(1), func(obs *observed.State) {
		obs.Failure = &observed.Failure{Attempt: 0, Reason: "PodFailed", Message: "job-worker-1 exited with code 3"}
	}))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "False Restarting", "Scheduled": "False Restarting", "Running": "False NotScheduled",
		"Restarting": "True PodFailed",
	}, conditionsOf(restarting))
	require.Equal(t, "restart 1 of 2: job-worker-1 exited with code 3", message(restarting, v1.ConditionRestarting))

	lost := next(seen(vcbatch.Pending, was(restarting), retriedTimes(1)))
	require.Equal(t, "restart 1 of 2: job-worker-1 exited with code 3", message(lost, v1.ConditionRestarting),
		"a controller that was restarted keeps what was known")

	repeated := next(seen(vcbatch.Running, was(lost), retriedTimes(1), allRun))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True Admitted", "Scheduled": "True GangPlaced", "Running": "True Training",
		"Restarting": "False Restarted",
	}, conditionsOf(repeated))

	ending := next(seen(vcbatch.Completing, was(repeated), retriedTimes(1), pods(observed.Terminating, observed.Succeeded, observed.Succeeded)))
	require.Equal(t, conditionsOf(repeated), conditionsOf(ending))

	end := next(seen(vcbatch.Completed, was(ending), retriedTimes(1)))
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "True Admitted", "Scheduled": "True GangPlaced", "Running": "False Completed",
		"Restarting": "False Restarted", "Succeeded": "True WorkersSucceeded",
	}, conditionsOf(end))
}

// The condition lasts as long as the gang whose addresses it is about.
func TestLauncherUsable(t *testing.T) {
	t.Parallel()
	obs := seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running))
	with := Next(obs, &Plan{LauncherUnusable: &builder.Cause{Reason: ReasonAddressPrefix, Message: "a prefix"}}, now)
	require.Equal(t, "False AddressPrefix", conditionsOf(with)["LauncherUsable"])
	require.Equal(t, "a prefix", message(with, v1.ConditionLauncherUsable))
	require.NotContains(t, conditionsOf(next(seen(vcbatch.Restarting, was(with), retriedTimes(1)))), "LauncherUsable")
	require.Contains(t, conditionsOf(next(seen(vcbatch.Failed, was(with), retriedTimes(3)))), "LauncherUsable", "it says why the job failed")
}

func TestFailedFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		phase   vcbatch.JobPhase
		with    []change
		reason  string
		message string
	}{
		"Volcano gave up": {
			phase: vcbatch.Terminated, reason: ReasonTerminated,
			message: "Volcano terminated the job: kubectl describe vcjob -n ml job says why",
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
		return func(obs *observed.State) {
			obs.PodGroup.Status.Phase = phase
			obs.PodGroup.Status.Conditions = []vcscheduling.PodGroupCondition{{
				Type: vcscheduling.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Message: text,
			}}
		}
	}
	unplaced := pods(observed.Unscheduled, observed.Unscheduled, observed.Unscheduled)
	for name, tc := range map[string]struct {
		phase   vcbatch.JobPhase
		with    []change
		reason  string
		message string
	}{
		"waits a moment": {
			with:   []change{func(obs *observed.State) { obs.VolcanoJob.CreationTimestamp = metav1.NewTime(now.Add(-time.Second)) }},
			reason: "Placing", message: "the scheduler looks for nodes for the whole gang",
		},
		"waits a moment after a restart": {
			phase: vcbatch.Pending, with: []change{retriedTimes(1), func(obs *observed.State) {
				obs.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now.Add(-time.Second))
			}},
			reason: "Placing", message: "the scheduler looks for nodes for the whole gang",
		},
		"no PodGroup": {
			with: []change{func(obs *observed.State) { obs.PodGroup = nil }}, reason: "WaitingForQueue",
			message: `queue "q" has not admitted the job yet: it is full, or the cluster has too little of what the gang asks for`,
		},
		"before the queue": {
			with: []change{group(vcscheduling.PodGroupPending, "no GPU left")}, reason: "WaitingForQueue",
			message: `queue "q" has not admitted the job yet: it is full, or the cluster has too little of what the gang asks for: no GPU left`,
		},
		"pods are refused": {
			with: []change{group(vcscheduling.PodGroupInqueue, ""), pods(observed.Unscheduled)}, reason: "WaitingForPods",
			message: "Volcano has made 1 of 3 pods: kubectl describe vcjob -n ml job says why",
		},
		"no capacity": {
			with: []change{group(vcscheduling.PodGroupInqueue, "3/3 tasks in gang unschedulable"), unplaced}, reason: "WaitingForGang",
			message: "3/3 tasks in gang unschedulable",
		},
		"not said why": {
			with: []change{group(vcscheduling.PodGroupInqueue, ""), unplaced}, reason: "WaitingForGang", message: "the gang waits for nodes, and the scheduler has given no reason: if this stays, enable its plugin paddle",
		},
		"restarting":  {phase: vcbatch.Restarting, with: []change{retriedTimes(1)}, reason: "Restarting", message: "the pods of the failed gang are being deleted"},
		"not created": {with: []change{func(obs *observed.State) { obs.VolcanoJob = nil }}, reason: "NotCreated"},
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
	placed := pods(observed.Starting, observed.Running, observed.Starting)
	obs := seen(vcbatch.Pending, placed)
	missing := &Plan{Missing: []string{"a", "b", "c", "d", "e", "f", "g"}}
	status := Next(obs, missing, now)
	require.Equal(t, "False PodsStarting", conditionsOf(status)["Running"], "no address is late yet")
	late := *obs
	late.Job = obs.Job.DeepCopy()
	late.Job.Status, late.Now = *status, now.Add(addressGracePeriod)
	require.Zero(t, Delay(&late, Next(&late, missing, late.Now)), "an address that is late is news")
	status = Next(&late, missing, late.Now)
	require.Equal(t, "False WaitingForAddresses", conditionsOf(status)["Running"])
	require.Equal(t, "the pods start once all addresses are known; missing: a, b, c, d, e and 2 more", message(status, v1.ConditionRunning))

	meta.SetStatusCondition(&late.Job.Status.Conditions, metav1.Condition{Type: v1.ConditionRunning, Status: metav1.ConditionTrue, Reason: "Training"})
	require.Equal(t, "False PodsStarting", conditionsOf(Next(&late, missing, late.Now))["Running"], "a worker of a gang that ran is replaced")

	status = next(obs)
	require.Equal(t, "False PodsStarting", conditionsOf(status)["Running"])
	require.Equal(t, "not running yet: job-ps-0, job-worker-1", message(status, v1.ConditionRunning))

	for _, pod := range []*corev1.Pod{obs.Pods[0], obs.Pods[2]} {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: `Back-off pulling image "x"`}}}}
	}
	status = Next(obs, &Plan{Missing: []string{"a"}}, now)
	require.Equal(t, "False ImagePullFailed", conditionsOf(status)["Running"], "what the addresses wait for")
	require.Equal(t, `2 of 3 pods cannot start, for example job-ps-0: Back-off pulling image "x"`, message(status, v1.ConditionRunning))
	obs.Pods[2].Status.ContainerStatuses, obs.Pods[0].Status.ContainerStatuses[0].State.Waiting = nil, &corev1.ContainerStateWaiting{Reason: "CreateContainerError"}
	status = next(obs)
	require.Equal(t, "False CreateContainerError", conditionsOf(status)["Running"])
	require.Equal(t, "1 of 3 pods cannot start, for example job-ps-0", message(status, v1.ConditionRunning))

	obs.VolcanoJob.Spec.Tasks[1].Template.Spec.Containers = []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{
		SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "token"}},
	}}}}
	obs.Pods[0].Status.ContainerStatuses[0].State.Waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: `secret "token" not found`}
	require.Equal(t, "False SecretNotFound", conditionsOf(next(obs))["Running"], "the cache has no specs of pods")
}

func TestPlanInConditions(t *testing.T) {
	t.Parallel()
	cause := &builder.Cause{Reason: "Why", Message: "what to do"}
	none := seen("", func(obs *observed.State) { obs.VolcanoJob = nil })
	operators := seen("", func(obs *observed.State) {
		obs.VolcanoJob, obs.Operator.Pods = nil, []*corev1.Pod{pod(builder.RoleWorker, 0, observed.Running)}
	})
	for name, tc := range map[string]struct {
		observedState    *observed.State
		plan             Plan
		stalled, created string
	}{
		"stalled":           {observedState: none, plan: Plan{Stalled: cause}, stalled: "True Why", created: "False Stalled"},
		"waiting":           {observedState: none, plan: Plan{Waiting: cause}, stalled: "False Proceeding", created: "False Why"},
		"not made yet":      {observedState: none, stalled: "False Proceeding", created: "False Creating"},
		"unapplied":         {observedState: seen(vcbatch.Running), plan: Plan{SpecNotSynced: cause}, stalled: "False Proceeding", created: "True Why"},
		"stalled later":     {observedState: seen(vcbatch.Running), plan: Plan{Stalled: cause}, stalled: "True Why", created: "True VolcanoJobCreated"},
		"being replaced":    {observedState: seen(vcbatch.Pending), plan: Plan{Waiting: cause}, stalled: "False Proceeding", created: "False Why"},
		"aborted":           {observedState: seen(vcbatch.Aborted), stalled: "True Aborted", created: "True VolcanoJobCreated"},
		"paddle-operator's": {observedState: operators, stalled: "False Proceeding", created: "True StartedByPaddleOperator"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := Next(tc.observedState, &tc.plan, now)
			require.Equal(t, tc.stalled, conditionsOf(status)["Stalled"])
			require.Equal(t, tc.created, conditionsOf(status)["Created"])
		})
	}
}

func TestWarningsStayInTheCondition(t *testing.T) {
	t.Parallel()
	first := Next(seen(vcbatch.Pending), &Plan{Warnings: []builder.Cause{{Message: "one"}, {Message: "two"}}}, now)
	require.Equal(t, "one; two", message(first, v1.ConditionCreated))
	second := next(seen(vcbatch.Pending, was(first)))
	require.Equal(t, "one; two", message(second, v1.ConditionCreated))
	edited := next(seen(vcbatch.Pending, was(first), func(obs *observed.State) { obs.Job.Generation = 2 }))
	require.Empty(t, message(edited, v1.ConditionCreated))
}

func TestEndOfPaddleOperatorsJobIsRecorded(t *testing.T) {
	t.Parallel()
	over := func(phase v1.Phase) change {
		return func(obs *observed.State) { obs.VolcanoJob, obs.Job.Status.Phase = nil, phase }
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
	tooLate := seen("", func(obs *observed.State) { obs.VolcanoJob = nil })
	status := Next(tooLate, &Plan{Failed: &builder.Cause{Reason: ReasonDeadlineExceeded, Message: "too long"}}, now)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "False DeadlineExceeded", "Running": "False Failed", "Failed": "True DeadlineExceeded",
	}, conditionsOf(status))
	require.Equal(t, conditionsOf(status), conditionsOf(next(seen("", was(status), func(obs *observed.State) { obs.VolcanoJob = nil }))), "it stays so")
}

// A user's command completes a job of which one worker has succeeded; Volcano has stopped the other.
func TestCompletedByACommand(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Succeeded)))
	end := next(seen(vcbatch.Completed, was(running), pods(observed.Terminating, observed.Terminating, observed.Succeeded)))
	require.Equal(t, v1.Completed, end.Phase)
	require.Equal(t, "True VolcanoJobCompleted", conditionsOf(end)["Succeeded"])
	require.Contains(t, Events(running, end, nil)[0].Message, "before every worker was seen to succeed")
}

func TestSpecChangedAfterTheEnd(t *testing.T) {
	t.Parallel()
	end := next(seen(vcbatch.Completed, pods(observed.Terminating, observed.Succeeded, observed.Succeeded)))
	obs := seen(vcbatch.Completed, was(end), func(obs *observed.State) { obs.Job.Generation = 2 })
	later := Next(obs, &Plan{SpecNotSynced: &builder.Cause{Reason: "Late", Message: "too late"}}, now)
	require.Equal(t, "True Late", conditionsOf(later)["Created"])
	require.Equal(t, "True WorkersSucceeded", conditionsOf(later)["Succeeded"])
}

func TestDeletedJobKeepsItsConditions(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running)))
	leaving := next(seen(vcbatch.Running, was(running), func(obs *observed.State) { obs.Job.DeletionTimestamp = &metav1.Time{} }))
	require.Equal(t, running.Conditions, leaving.Conditions)
}

// pluginSays gives the PodGroup the condition of the scheduler's plugin, some time ago, beside Volcano's own.
func pluginSays(status corev1.ConditionStatus, reason, message string, ago time.Duration) change {
	return func(obs *observed.State) {
		obs.PodGroup.Status.Conditions = []vcscheduling.PodGroupCondition{
			{Type: vcscheduling.PodGroupUnschedulableType, Status: corev1.ConditionTrue, Reason: "NotEnoughResources", Message: "3/3 tasks in gang unschedulable"},
			{Type: conditionPaddleScheduled, Status: status, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(now.Add(-ago))},
		}
	}
}

func createdAgo(ago time.Duration) change {
	return func(obs *observed.State) { obs.VolcanoJob.CreationTimestamp = metav1.NewTime(now.Add(-ago)) }
}

func inPhase(phase vcscheduling.PodGroupPhase) change {
	return func(obs *observed.State) { obs.PodGroup.Status.Phase = phase }
}

// The reason that the plugin gives is the condition's, and the first line of its message.
func TestReasonOfThePlugin(t *testing.T) {
	t.Parallel()
	const no, yes = corev1.ConditionFalse, corev1.ConditionTrue
	unplaced := pods(observed.Unscheduled, observed.Unscheduled, observed.Unscheduled)
	young, waits := createdAgo(3*time.Second), "the scheduler looks for nodes for the whole gang"
	for name, tc := range map[string]struct {
		with    []change
		reason  string
		message string
		settles time.Duration
	}{
		"no capacity": {
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
			with:   []change{unplaced, pluginSays(no, "TerminatingPods", "there is capacity soon", 4*time.Second)},
			reason: "Placing", message: waits, settles: 6 * time.Second,
		},
		"that reason for long": {
			with: []change{unplaced, pluginSays(no, "TerminatingPods", "there is capacity soon", 10*time.Second)}, reason: "TerminatingPods", message: "there is capacity soon",
		},
		"before the queue": {
			with:   []change{inPhase(vcscheduling.PodGroupPending), pluginSays(no, "QueueCapacity", "queue q has capacity for 6 of 8 GPUs", time.Minute)},
			reason: "QueueCapacity", message: "queue q has capacity for 6 of 8 GPUs",
		},
		"without pods": {
			with:   []change{pods(observed.Unscheduled), pluginSays(no, "WaitingForPods", "2 workers are not created", time.Minute)},
			reason: "WaitingForPods", message: "2 workers are not created",
		},
		"the API server's comes first": {
			with: []change{pods(observed.Unscheduled), pluginSays(no, "WaitingForPods", "2 workers are not created", time.Minute), func(obs *observed.State) {
				obs.PodCreateError = `pods "job-worker-0" is forbidden: exceeded quota: few, requested: pods=1, used: pods=1, limited: pods=1`
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
			obs := seen(vcbatch.Pending, tc.with...)
			status := next(obs)
			require.Equal(t, "False "+tc.reason, conditionsOf(status)["Scheduled"])
			require.Equal(t, tc.message, message(status, "Scheduled"))
			require.Equal(t, tc.settles, SettlingFor(obs, now))
		})
	}
}

func TestWaits(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"InsufficientResources", "QueueCapacity", "SomeOther", "WaitingForQueue", "WaitingForGang", "WaitingForPods", "QuotaExceeded", "ImagePullFailed"} {
		require.True(t, IsWaitingReason(reason), reason)
	}
	for _, reason := range []string{"", "Placing", "NotCreated", "Restarting", "Suspended", "NotScheduled", "PodsStarting", "Completed", "Failed"} {
		require.False(t, IsWaitingReason(reason), reason)
	}
}

// at is the status after an observed state and a plan at some time after now.
func at(later time.Duration, obs *observed.State, plan Plan) *v1.PaddleJobStatus {
	return Next(obs, &plan, now.Add(later))
}

func TestSuspendedConditions(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running)))
	absent := func(obs *observed.State) { obs.VolcanoJob, obs.PodGroup = nil, nil }
	suspending := Plan{Suspended: &builder.Cause{Reason: ReasonSuspending}}
	suspended := Plan{Suspended: &builder.Cause{Reason: ReasonSuspended}}

	going := at(0, seen(vcbatch.Running, was(running)), suspending)
	require.Equal(t, v1.Suspended, going.Phase)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "False Suspended", "Admitted": "False Suspended", "Scheduled": "False Suspended",
		"Running": "False Suspended", "Suspended": "True Suspending",
	}, conditionsOf(going))
	rests := at(20*time.Second, seen("", was(going), absent), suspended)
	require.Equal(t, "True Suspended", conditionsOf(rests)["Suspended"])

	repeated := at(time.Minute, seen("", was(rests), absent), Plan{})
	require.Equal(t, v1.Pending, repeated.Phase)
	require.Equal(t, "False Resumed", conditionsOf(repeated)["Suspended"])
	require.Equal(t, now.Add(time.Minute), meta.FindStatusCondition(repeated.Conditions, v1.ConditionSuspended).LastTransitionTime.UTC(),
		"the deadline counts from then")
	require.Equal(t, running.StartTime, repeated.StartTime)

	late := at(time.Minute, seen("", was(going), absent), Plan{Succeeded: true})
	require.Equal(t, v1.Completed, late.Phase)
	require.Equal(t, "False Completed", conditionsOf(late)["Suspended"], "its workers succeeded before they were stopped")
	var reported []string
	for _, e := range Events(going, late, nil) {
		reported = append(reported, e.Reason)
	}
	require.Equal(t, []string{"Completed"}, reported, "it does not start again")
}

func TestRecreations(t *testing.T) {
	t.Parallel()
	leaving := func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = &metav1.Time{Time: now} }
	third := func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.RecreationsAnnotation] = "2" }
	deletes := Plan{Recreate: true}
	require.Zero(t, next(seen("")).Recreations)
	require.EqualValues(t, 1, at(0, seen(""), deletes).Recreations)
	require.EqualValues(t, 1, at(0, seen("", was(at(0, seen(""), deletes)), leaving), Plan{}).Recreations, "counted once")
	require.EqualValues(t, 2, next(seen("", third)).Recreations)
	require.EqualValues(t, 3, next(seen("", third, leaving)).Recreations)
	require.Zero(t, next(seen(vcbatch.Completed, leaving, was(&v1.PaddleJobStatus{Phase: v1.Completed}))).Recreations, "no other follows")
	require.EqualValues(t, 4, next(seen("", was(&v1.PaddleJobStatus{Recreations: 4}))).Recreations)
}

func delays(obs *observed.State) {
	obs.VolcanoJob.Spec.Policies = []vcbatch.LifecyclePolicy{{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction}}
	obs.Job.Spec.RunPolicy = &v1.RunPolicy{BackoffLimit: ptr.To[int32](4)}
}

func TestRetryingConditions(t *testing.T) {
	t.Parallel()
	retrying := Plan{Retrying: &builder.Cause{Reason: ReasonRetrying, Message: "the job starts again soon"}}
	failed := pods(observed.Terminating, observed.Succeeded, observed.Failed)
	waits := at(0, seen(vcbatch.Aborted, delays, retriedTimes(1), failed), retrying)
	require.Equal(t, v1.Restarting, waits.Phase)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "False Restarting", "Scheduled": "False Restarting",
		"Running": "False NotScheduled", "Restarting": "True PodFailed",
	}, conditionsOf(waits))
	require.Equal(t, "job-worker-1 exited with code 3; the job starts again soon", message(waits, v1.ConditionRestarting))
	require.EqualValues(t, 1, waits.Restarts, "the next has not begun")

	repeated := next(seen(vcbatch.Restarting, delays, was(waits), retriedTimes(2)))
	require.EqualValues(t, 2, repeated.Restarts)
	aborted := next(seen(vcbatch.Aborted, delays))
	require.Equal(t, "True Aborted", conditionsOf(aborted)["Stalled"], "by hand")

	seenFailure := func(obs *observed.State) {
		obs.Failure = &observed.Failure{Attempt: 1, Reason: "PodFailed", Message: "job-ps-0 exited with code 9"}
	}
	require.Equal(t, "restart 2 of 6: job-ps-0 exited with code 9",
		message(next(seen(vcbatch.Restarting, delays, retriedTimes(2), seenFailure)), v1.ConditionRestarting))
}

// The controller was away while the gang started again.
func TestUnobservedRestart(t *testing.T) {
	t.Parallel()
	running := pods(observed.Running, observed.Running, observed.Running)
	before := next(seen(vcbatch.Running, running))
	after := next(seen(vcbatch.Running, was(before), retriedTimes(1), running))
	require.EqualValues(t, 1, after.Restarts)
	require.Equal(t, "False Restarted", conditionsOf(after)["Restarting"])
	require.Equal(t, "restart 1: a pod failed or was evicted", message(after, v1.ConditionRestarting))
	var reported []string
	for _, event := range Events(before, after, nil) {
		reported = append(reported, event.Reason+": "+event.Message)
	}
	require.Equal(t, []string{"Restarting: restart 1: a pod failed or was evicted"}, reported)
	repeated := next(seen(vcbatch.Running, was(after), retriedTimes(1), running))
	require.Equal(t, after, repeated)
}

// The Volcano Job is seen to have ended before its pods are, and they go at once when the end is written.
func TestEndWaitsForThePods(t *testing.T) {
	t.Parallel()
	ended := func(obs *observed.State) {
		obs.Now, obs.VolcanoJob.Status.State.LastTransitionTime = now, metav1.NewTime(now)
	}
	running := next(seen(vcbatch.Running, pods(observed.Running, observed.Running, observed.Running)))
	for _, phase := range []vcbatch.JobPhase{vcbatch.Completed, vcbatch.Failed} {
		early := next(seen(phase, was(running), ended, pods(observed.Running, observed.Running, observed.Running)))
		require.Equal(t, v1.Running, early.Phase, phase)
		require.Nil(t, early.CompletionTime)
		require.Equal(t, conditionsOf(running), conditionsOf(early))
	}
	end := next(seen(vcbatch.Completed, was(running), ended, pods(observed.Terminating, observed.Succeeded, observed.Succeeded)))
	require.Equal(t, v1.Completed, end.Phase)
	require.EqualValues(t, 2, end.Worker.Succeeded)
}

// Volcano has failed a Job that the controller is about to make again.
func TestRecreateConditions(t *testing.T) {
	t.Parallel()
	repeated := Plan{CountRestart: true, Failures: 1, Retrying: &builder.Cause{Reason: ReasonRetrying, Message: "the job starts again soon"}}
	failed := pods(observed.Terminating, observed.Failed, observed.Failed)
	status := at(0, seen(vcbatch.Failed, retriedTimes(1), failed), repeated)
	require.Equal(t, v1.Restarting, status.Phase)
	require.EqualValues(t, 2, status.Restarts)
	require.Equal(t, "restart 2 of 3: job-worker-0 exited with code 3; the job starts again soon", message(status, v1.ConditionRestarting))
	require.Nil(t, status.CompletionTime)

	waits := at(0, seen(vcbatch.Failed, delays, retriedTimes(1), failed), Plan{Retrying: repeated.Retrying})
	require.Equal(t, v1.Restarting, waits.Phase)
	require.EqualValues(t, 1, waits.Restarts, "the next has not begun")

	last := at(0, seen(vcbatch.Failed, delays, retriedTimes(4), failed),
		Plan{Failed: &builder.Cause{Reason: ReasonBackoffLimitExceeded, Message: "4 is the limit"}})
	require.Equal(t, "job-worker-0 exited with code 3; the job had been restarted 4 times before, and 4 is the limit", message(last, v1.ConditionFailed))

	second := func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.EarlierRestartsAnnotation] = "1" }
	require.Equal(t, "restart 2 of 4: job-worker-0 exited with code 3",
		message(next(seen(vcbatch.Restarting, second, retriedTimes(1), failed)), v1.ConditionRestarting))
}

// Whatever else happens to a job whose gang starts again under another Volcano Job, the phase Failed of this one is not its own.
func TestARestartedJobHasNotFailed(t *testing.T) {
	t.Parallel()
	none := func(*observed.State) {}
	suspend := func(obs *observed.State) { obs.Job.Spec.RunPolicy.Suspend = ptr.To(true) }
	leaving := func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = &metav1.Time{Time: now} }
	counted := func(obs *observed.State) { obs.Job.Status.Recreations, obs.Job.Status.Restarts = 1, 1 }
	changed := func(obs *observed.State) { obs.Job.Spec.Worker.Replicas, obs.Job.Generation = 3, 2 }
	for _, phase := range []v1.Phase{"", v1.Pending, v1.Starting, v1.Running, v1.Restarting, v1.Suspended} {
		for _, gang := range []change{none, pods(observed.Failed, observed.Failed, observed.Failed), pods(observed.Terminating, observed.Terminating, observed.Failed)} {
			for mask := range 16 {
				obs := seen(vcbatch.Failed, delays, gang, func(obs *observed.State) { tell(&obs.Job.Status, phase); obs.Now = now })
				for i, change := range []change{suspend, leaving, counted, changed} {
					if mask&(1<<i) != 0 {
						change(obs)
					}
				}
				require.True(t, obs.NeedsRecreation())
				plan := Decide(obs, builder.Config{})
				status := Next(obs, &plan, now)
				require.NotContains(t, []v1.Phase{v1.Failed, v1.Completed}, status.Phase, "before %q, %d pods, %04b: %+v", phase, len(obs.Pods), mask, plan)
				require.Nil(t, status.CompletionTime)
			}
		}
	}
}

func TestFailedByTheController(t *testing.T) {
	t.Parallel()
	began := func(obs *observed.State) {
		obs.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now.Add(-time.Hour))
	}
	for name, tc := range map[string]struct {
		phase  vcbatch.JobPhase
		with   []change
		failed builder.Cause
		want   string
	}{
		"deadline": {phase: vcbatch.Running, with: []change{pods(observed.Running, observed.Running, observed.Running)},
			failed: builder.Cause{Reason: ReasonDeadlineExceeded, Message: "too long"}, want: "too long"},
		"too often": {phase: vcbatch.Aborted, with: []change{delays, retriedTimes(1), pods(observed.Terminating, observed.Failed, observed.Terminating)},
			failed: builder.Cause{Reason: ReasonBackoffLimitExceeded, Message: "1 is the limit"},
			want:   "job-worker-0 exited with code 3; the job had been restarted once before, and 1 is the limit"},
		"never": {phase: vcbatch.Aborted, with: []change{delays, pods(observed.Terminating, observed.Failed, observed.Terminating)},
			failed: builder.Cause{Reason: ReasonBackoffLimitExceeded, Message: "0 is the limit"},
			want:   "job-worker-0 exited with code 3; 0 is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := at(0, seen(tc.phase, append(tc.with, began)...), Plan{Failed: &tc.failed})
			require.Equal(t, v1.Failed, status.Phase)
			require.Equal(t, "True "+tc.failed.Reason, conditionsOf(status)["Failed"])
			require.Equal(t, tc.want, message(status, v1.ConditionFailed))
			require.True(t, status.CompletionTime.Time.Equal(now), "not when Volcano's phase began")
		})
	}
	code := func(obs *observed.State) {
		obs.Job.Spec.RunPolicy = &v1.RunPolicy{PermanentExitCodes: []int32{3}}
	}
	given := next(seen(vcbatch.Terminated, pods(observed.Terminating, observed.Failed, observed.Terminating), code))
	require.Equal(t, "True PermanentExitCode", conditionsOf(given)["Failed"], "by Volcano's own policy")
}

func TestAdmittedWaitsToBeWritten(t *testing.T) {
	t.Parallel()
	group := func(phase vcscheduling.PodGroupPhase) change {
		return func(obs *observed.State) { obs.PodGroup.Status.Phase = phase }
	}
	out := next(seen(vcbatch.Pending, group(vcscheduling.PodGroupPending)))
	require.Equal(t, "False Queueing", conditionsOf(out)["Admitted"])
	in := out.DeepCopy()
	setter := &conditionSetter{next: in, obs: seen(vcbatch.Pending), plan: &Plan{}, now: now}
	setter.admitted(false)
	require.Equal(t, "True Admitted", conditionsOf(in)["Admitted"])
	require.Equal(t, textDelay, delayOf(out, in))
	in.Restarts++
	require.Zero(t, delayOf(out, in))
}

func TestSuspensionEvents(t *testing.T) {
	t.Parallel()
	with := func(status metav1.ConditionStatus, reason string) *v1.PaddleJobStatus {
		return &v1.PaddleJobStatus{Conditions: []metav1.Condition{{Type: v1.ConditionSuspended, Status: status, Reason: reason}}}
	}
	reasons := func(before, after *v1.PaddleJobStatus) []string {
		var all []string
		for _, e := range Events(before, after, nil) {
			all = append(all, e.Reason)
		}
		return all
	}
	none := &v1.PaddleJobStatus{}
	require.Empty(t, reasons(none, with(metav1.ConditionTrue, ReasonSuspending)))
	require.Equal(t, []string{"Suspended"}, reasons(with(metav1.ConditionTrue, ReasonSuspending), with(metav1.ConditionTrue, ReasonSuspended)))
	require.Equal(t, []string{"Resumed"}, reasons(with(metav1.ConditionTrue, ReasonSuspended), with(metav1.ConditionFalse, reasonResumed)))
}
