// SPDX-License-Identifier: Apache-2.0

package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/policy"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// at is the status after a view and a plan at some time after now.
func at(later time.Duration, v *view.View, plan policy.Plan) *v1.PaddleJobStatus {
	return Next(v, &plan, now.Add(later))
}

func TestSuspendedStory(t *testing.T) {
	t.Parallel()
	running := next(seen(vcbatch.Running, pods(view.Running, view.Running, view.Running)))
	gone := func(v *view.View) { v.VolcanoJob, v.PodGroup = nil, nil }
	suspending := policy.Plan{Suspended: &render.Notice{Reason: policy.ReasonSuspending}}
	suspended := policy.Plan{Suspended: &render.Notice{Reason: policy.ReasonSuspended}}

	going := at(0, seen(vcbatch.Running, was(running)), suspending)
	require.Equal(t, v1.Suspended, going.Phase)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "False Suspended", "Admitted": "False Suspended", "Scheduled": "False Suspended",
		"Running": "False Suspended", "Suspended": "True Suspending",
	}, conditionsOf(going))
	rests := at(20*time.Second, seen("", was(going), gone), suspended)
	require.Equal(t, "True Suspended", conditionsOf(rests)["Suspended"])

	again := at(time.Minute, seen("", was(rests), gone), policy.Plan{})
	require.Equal(t, v1.Pending, again.Phase)
	require.Equal(t, "False Resumed", conditionsOf(again)["Suspended"])
	require.Equal(t, now.Add(time.Minute), meta.FindStatusCondition(again.Conditions, v1.ConditionSuspended).LastTransitionTime.UTC(),
		"the deadline counts from then")
	require.Equal(t, running.StartTime, again.StartTime)

	late := at(time.Minute, seen("", was(going), gone), policy.Plan{Succeeded: true})
	require.Equal(t, v1.Completed, late.Phase)
	require.Equal(t, "False Completed", conditionsOf(late)["Suspended"], "its workers succeeded before they were stopped")
	var told []string
	for _, e := range Events(going, late, nil) {
		told = append(told, e.Reason)
	}
	require.Equal(t, []string{"Completed"}, told, "it does not start anew")
}

func TestRecreations(t *testing.T) {
	t.Parallel()
	leaving := func(v *view.View) { v.VolcanoJob.DeletionTimestamp = &metav1.Time{Time: now} }
	third := func(v *view.View) { v.VolcanoJob.Annotations[keys.Recreations] = "2" }
	deletes := policy.Plan{Recreate: true}
	require.Zero(t, next(seen("")).Recreations)
	require.EqualValues(t, 1, at(0, seen(""), deletes).Recreations)
	require.EqualValues(t, 1, at(0, seen("", was(at(0, seen(""), deletes)), leaving), policy.Plan{}).Recreations, "counted once")
	require.EqualValues(t, 2, next(seen("", third)).Recreations)
	require.EqualValues(t, 3, next(seen("", third, leaving)).Recreations)
	require.Zero(t, next(seen(vcbatch.Completed, leaving, was(&v1.PaddleJobStatus{Phase: v1.Completed}))).Recreations, "no other follows")
	require.EqualValues(t, 4, next(seen("", was(&v1.PaddleJobStatus{Recreations: 4}))).Recreations)
}

func delays(v *view.View) {
	v.VolcanoJob.Spec.Policies = []vcbatch.LifecyclePolicy{{Event: vcbus.PodFailedEvent, Action: vcbus.AbortJobAction}}
	v.VolcanoJob.Spec.MaxRetry = 1 << 30
	v.Job.Spec.RunPolicy = &v1.RunPolicy{BackoffLimit: ptr.To[int32](4)}
}

func TestRetryingStory(t *testing.T) {
	t.Parallel()
	retrying := policy.Plan{Retrying: &render.Notice{Reason: policy.ReasonRetrying, Message: "the job starts again soon"}}
	failed := pods(view.Leaving, view.Succeeded, view.Failed)
	waits := at(0, seen(vcbatch.Aborted, delays, retried(1), failed), retrying)
	require.Equal(t, v1.Restarting, waits.Phase)
	require.Equal(t, map[string]string{
		"Stalled": "False Proceeding", "Created": "True VolcanoJobCreated", "Admitted": "False Restarting", "Scheduled": "False Restarting",
		"Running": "False NotScheduled", "Restarting": "True PodFailed",
	}, conditionsOf(waits))
	require.Equal(t, "job-worker-1 exited with code 3; the job starts again soon", message(waits, v1.ConditionRestarting))
	require.EqualValues(t, 1, waits.Restarts, "the next has not begun")

	again := next(seen(vcbatch.Restarting, delays, was(waits), retried(2)))
	require.EqualValues(t, 2, again.Restarts)
	aborted := next(seen(vcbatch.Aborted, delays))
	require.Equal(t, "True Aborted", conditionsOf(aborted)["Stalled"], "by hand")

	seenFailure := func(v *view.View) {
		v.Failure = &view.Failure{Attempt: 1, Reason: "PodFailed", Message: "job-ps-0 exited with code 9"}
	}
	require.Equal(t, "restart 2 of 6: job-ps-0 exited with code 9",
		message(next(seen(vcbatch.Restarting, delays, retried(2), seenFailure)), v1.ConditionRestarting))
}

// The controller was away while the gang started again.
func TestRestartThatNobodySaw(t *testing.T) {
	t.Parallel()
	running := pods(view.Running, view.Running, view.Running)
	before := next(seen(vcbatch.Running, running))
	after := next(seen(vcbatch.Running, was(before), retried(1), running))
	require.EqualValues(t, 1, after.Restarts)
	require.Equal(t, "False Restarted", conditionsOf(after)["Restarting"])
	require.Equal(t, "restart 1: a pod failed or was evicted", message(after, v1.ConditionRestarting))
	var told []string
	for _, event := range Events(before, after, nil) {
		told = append(told, event.Reason+": "+event.Message)
	}
	require.Equal(t, []string{"Restarting: restart 1: a pod failed or was evicted"}, told)
	again := next(seen(vcbatch.Running, was(after), retried(1), running))
	require.Equal(t, after, again)
}

// The Volcano Job is seen to have ended before its pods are, and they go at once when the end is written.
func TestEndWaitsForThePods(t *testing.T) {
	t.Parallel()
	ended := func(v *view.View) { v.Now, v.VolcanoJob.Status.State.LastTransitionTime = now, metav1.NewTime(now) }
	running := next(seen(vcbatch.Running, pods(view.Running, view.Running, view.Running)))
	for _, phase := range []vcbatch.JobPhase{vcbatch.Completed, vcbatch.Failed} {
		early := next(seen(phase, was(running), ended, pods(view.Running, view.Running, view.Running)))
		require.Equal(t, v1.Running, early.Phase, phase)
		require.Nil(t, early.CompletionTime)
		require.Equal(t, conditionsOf(running), conditionsOf(early))
	}
	end := next(seen(vcbatch.Completed, was(running), ended, pods(view.Leaving, view.Succeeded, view.Succeeded)))
	require.Equal(t, v1.Completed, end.Phase)
	require.Equal(t, 2, end.Worker.Succeeded)
}

// Volcano has failed a Job that the controller is about to make anew.
func TestAgainStory(t *testing.T) {
	t.Parallel()
	again := policy.Plan{Again: true, Failures: 1, Retrying: &render.Notice{Reason: policy.ReasonRetrying, Message: "the job starts again soon"}}
	failed := pods(view.Leaving, view.Failed, view.Failed)
	status := at(0, seen(vcbatch.Failed, retried(1), failed), again)
	require.Equal(t, v1.Restarting, status.Phase)
	require.EqualValues(t, 2, status.Restarts)
	require.Equal(t, "restart 2 of 3: job-worker-0 exited with code 3; the job starts again soon", message(status, v1.ConditionRestarting))
	require.Nil(t, status.CompletionTime)

	waits := at(0, seen(vcbatch.Failed, delays, retried(1), failed), policy.Plan{Retrying: again.Retrying})
	require.Equal(t, v1.Restarting, waits.Phase)
	require.EqualValues(t, 1, waits.Restarts, "the next has not begun")

	last := at(0, seen(vcbatch.Failed, delays, retried(4), failed),
		policy.Plan{Failed: &render.Notice{Reason: policy.ReasonBackoffLimitExceeded, Message: "4 is the limit"}})
	require.Equal(t, "job-worker-0 exited with code 3; the job had been restarted 4 times before, and 4 is the limit", message(last, v1.ConditionFailed))

	second := func(v *view.View) {
		v.VolcanoJob.Annotations[keys.EarlierRestarts] = "1"
		v.VolcanoJob.Spec.MaxRetry = 2
	}
	require.Equal(t, "restart 2 of 4: job-worker-0 exited with code 3",
		message(next(seen(vcbatch.Restarting, second, retried(1), failed)), v1.ConditionRestarting))
}

// Whatever else happens to a job whose gang starts again under another Volcano Job, the phase Failed of this one is not its own.
func TestAJobThatStartsAgainHasNotFailed(t *testing.T) {
	t.Parallel()
	none := func(*view.View) {}
	suspend := func(v *view.View) { v.Job.Spec.RunPolicy.Suspend = ptr.To(true) }
	leaving := func(v *view.View) { v.VolcanoJob.DeletionTimestamp = &metav1.Time{Time: now} }
	counted := func(v *view.View) { v.Job.Status.Recreations, v.Job.Status.Restarts = 1, 1 }
	changed := func(v *view.View) { v.Job.Spec.Worker.Replicas, v.Job.Generation = 3, 2 }
	for _, phase := range []v1.Phase{"", v1.Pending, v1.Starting, v1.Running, v1.Restarting, v1.Suspended} {
		for _, gang := range []change{none, pods(view.Failed, view.Failed, view.Failed), pods(view.Leaving, view.Leaving, view.Failed)} {
			for mask := range 16 {
				v := seen(vcbatch.Failed, delays, gang, func(v *view.View) { v.Job.Status.Phase, v.Now = phase, now })
				for i, change := range []change{suspend, leaving, counted, changed} {
					if mask&(1<<i) != 0 {
						change(v)
					}
				}
				require.True(t, v.Unretried())
				plan := policy.Decide(v, render.Config{})
				status := Next(v, &plan, now)
				require.NotContains(t, []v1.Phase{v1.Failed, v1.Completed}, status.Phase, "before %q, %d pods, %04b: %+v", phase, len(v.Pods), mask, plan)
				require.Nil(t, status.CompletionTime)
			}
		}
	}
}

func TestFailedByTheController(t *testing.T) {
	t.Parallel()
	began := func(v *view.View) { v.VolcanoJob.Status.State.LastTransitionTime = metav1.NewTime(now.Add(-time.Hour)) }
	for name, tc := range map[string]struct {
		phase  vcbatch.JobPhase
		with   []change
		failed render.Notice
		want   string
	}{
		"deadline": {phase: vcbatch.Running, with: []change{pods(view.Running, view.Running, view.Running)},
			failed: render.Notice{Reason: policy.ReasonDeadlineExceeded, Message: "too long"}, want: "too long"},
		"too often": {phase: vcbatch.Aborted, with: []change{delays, retried(1), pods(view.Leaving, view.Failed, view.Leaving)},
			failed: render.Notice{Reason: policy.ReasonBackoffLimitExceeded, Message: "1 is the limit"},
			want:   "job-worker-0 exited with code 3; the job had been restarted once before, and 1 is the limit"},
		"never": {phase: vcbatch.Aborted, with: []change{delays, pods(view.Leaving, view.Failed, view.Leaving)},
			failed: render.Notice{Reason: policy.ReasonBackoffLimitExceeded, Message: "0 is the limit"},
			want:   "job-worker-0 exited with code 3; 0 is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := at(0, seen(tc.phase, append(tc.with, began)...), policy.Plan{Failed: &tc.failed})
			require.Equal(t, v1.Failed, status.Phase)
			require.Equal(t, "True "+tc.failed.Reason, conditionsOf(status)["Failed"])
			require.Equal(t, tc.want, message(status, v1.ConditionFailed))
			require.True(t, status.CompletionTime.Time.Equal(now), "not when Volcano's phase began")
		})
	}
	code := func(v *view.View) {
		v.Job.Spec.RunPolicy = &v1.RunPolicy{PermanentExitCodes: []int32{3}}
	}
	given := next(seen(vcbatch.Terminated, pods(view.Leaving, view.Failed, view.Leaving), code))
	require.Equal(t, "True PermanentExitCode", conditionsOf(given)["Failed"], "by Volcano's own policy")
}

func TestAdmittedWaitsToBeWritten(t *testing.T) {
	t.Parallel()
	group := func(phase vcscheduling.PodGroupPhase) change {
		return func(v *view.View) { v.PodGroup.Status.Phase = phase }
	}
	out := next(seen(vcbatch.Pending, group(vcscheduling.PodGroupPending)))
	require.Equal(t, "False Queueing", conditionsOf(out)["Admitted"])
	in := out.DeepCopy()
	story := &story{next: in, v: seen(vcbatch.Pending), plan: &policy.Plan{}, now: now}
	story.admitted(false)
	require.Equal(t, "True LetIn", conditionsOf(in)["Admitted"])
	wait, _ := Delay(out, in)
	require.Equal(t, textDelay, wait)
	in.Restarts++
	wait, _ = Delay(out, in)
	require.Zero(t, wait)
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
	require.Empty(t, reasons(none, with(metav1.ConditionTrue, policy.ReasonSuspending)))
	require.Equal(t, []string{"Suspended"}, reasons(with(metav1.ConditionTrue, policy.ReasonSuspending), with(metav1.ConditionTrue, policy.ReasonSuspended)))
	require.Equal(t, []string{"Resumed"}, reasons(with(metav1.ConditionTrue, policy.ReasonSuspended), with(metav1.ConditionFalse, reasonResumed)))
}
