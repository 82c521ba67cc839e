// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestDelayBefore(t *testing.T) {
	t.Parallel()
	var delays []time.Duration
	for restarts := range int32(9) {
		delays = append(delays, delayBefore(restarts))
	}
	require.Equal(t, []time.Duration{
		0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second, 6 * time.Minute, 6 * time.Minute,
	}, delays)
	require.Equal(t, 6*time.Minute, delayBefore(1<<30))
}

// stopped is a job with a backoff limit that Volcano has stopped a while ago, after as many restarts.
func stopped(t *testing.T, phase vcbatch.JobPhase, limit, retries int32, ago time.Duration, with ...change) *view.View {
	t.Helper()
	delayed := runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To(limit) })
	v := submitted(delayed)
	v.VolcanoJob = volcanoJobOf(t, Decide(v, config)).DeepCopy()
	v.VolcanoJob.UID = "vc-uid"
	v.VolcanoJob.Status.RetryCount = retries
	v.VolcanoJob.Status.State = vcbatch.JobState{Phase: phase, LastTransitionTime: *before(ago)}
	for _, c := range with {
		c(v)
	}
	return v
}

func TestRetry(t *testing.T) {
	t.Parallel()
	failed := with("worker", view.Succeeded, view.Failed)
	noted := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Restarting })
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		limit     int32
		retries   int32
		ago       time.Duration
		with      []change
		does      []string
		failed    string
		retrying  bool
		lookAgain time.Duration
	}{
		"pods are being stopped":              {phase: vcbatch.Aborting, limit: 3, with: []change{failed}, retrying: true, lookAgain: stuckGrace},
		"the failure is not written down yet": {phase: vcbatch.Aborted, limit: 3, with: []change{failed}, retrying: true},
		"the first time, at once": {phase: vcbatch.Aborted, limit: 3, with: []change{failed, noted}, retrying: true,
			does: []string{"delete pod job-worker-0", "delete pod job-worker-1"}},
		"its next pods are seen before it": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Hour, retrying: true, with: []change{noted, with("worker", view.Running), func(v *view.View) {
			v.Pods[0].Annotations[vcbatch.JobRetryCountKey] = "2"
		}}},
		"its pods are on their way out": {phase: vcbatch.Aborted, limit: 3, retrying: true,
			with: []change{noted, with("worker", view.Leaving)}},
		"its pods are gone": {phase: vcbatch.Aborted, limit: 3, with: []change{noted}, retrying: true,
			does: []string{"ResumeJob"}, lookAgain: CommandPeriod},
		"the second time, too early": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 4 * time.Second, with: []change{failed, noted},
			retrying: true, lookAgain: 6 * time.Second},
		"the second time": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 10 * time.Second, with: []change{noted}, retrying: true,
			does: []string{"ResumeJob"}, lookAgain: CommandPeriod},
		"restarts of an earlier Volcano Job count": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 10 * time.Second, with: []change{noted, func(v *view.View) {
			v.VolcanoJob.Annotations[keys.EarlierRestarts] = "1"
		}}, retrying: true, lookAgain: 10 * time.Second},
		"once too often": {phase: vcbatch.Aborted, limit: 1, retries: 1, with: []change{failed}, failed: ReasonBackoffLimitExceeded},
		"none allowed":   {phase: vcbatch.Aborting, limit: 0, with: []change{failed}, failed: ReasonBackoffLimitExceeded},
		"a pod that nobody sees any more": {phase: vcbatch.Aborted, limit: 0, failed: ReasonBackoffLimitExceeded, with: []change{func(v *view.View) {
			v.Failure = &view.Failure{Reason: view.ReasonPodFailed}
		}}},
		"an older failure":  {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Minute, with: []change{func(v *view.View) { v.Failure = &view.Failure{Reason: view.ReasonPodFailed} }}},
		"aborted by hand":   {phase: vcbatch.Aborted, limit: 0, ago: time.Minute},
		"evictions, enough": {phase: vcbatch.Running, limit: 1, retries: 1, does: []string{"apply PodGroup job-vc-uid"}},
		"one eviction more": {phase: vcbatch.Running, limit: 1, retries: 2, with: []change{statusOf(func(s *v1.PaddleJobStatus) { s.Restarts = 1 })},
			failed: ReasonBackoffLimitExceeded},
		"a limit that was lowered": {phase: vcbatch.Running, limit: 1, retries: 2, with: []change{statusOf(func(s *v1.PaddleJobStatus) { s.Restarts = 2 })},
			does: []string{"apply PodGroup job-vc-uid"}},
		"a permanent exit code": {phase: vcbatch.Aborting, limit: 9, failed: ReasonPermanentExitCode, with: []change{exits(42)}},
		"another exit code":     {phase: vcbatch.Aborting, limit: 9, retrying: true, lookAgain: stuckGrace, with: []change{exits(41)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := stopped(t, tc.phase, tc.limit, tc.retries, tc.ago, append(tc.with, func(v *view.View) {
				v.Job.Spec.RunPolicy.PermanentExitCodes = []int32{42}
			})...)
			plan := Decide(v, config)
			plan.Missing = nil
			require.Equal(t, tc.does, done(plan))
			require.Equal(t, tc.retrying, plan.Retrying != nil)
			require.Equal(t, tc.lookAgain, plan.LookAgain)
			reason := ""
			if plan.Failed != nil {
				reason = plan.Failed.Reason
			}
			require.Equal(t, tc.failed, reason)
		})
	}
}

// exits adds a worker that failed with a code.
func exits(code int32) change {
	return func(v *view.View) {
		with("worker", view.Failed)(v)
		v.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}},
		}
	}
}

func TestDefaultPathIsVolcanos(t *testing.T) {
	t.Parallel()
	v := created(t, vcbatch.Aborted, with("worker", view.Failed))
	plan := Decide(v, config)
	require.Nil(t, plan.Retrying)
	require.Nil(t, plan.Failed)
	require.Empty(t, plan.Actions)
}

// Of a job of which single workers restart, a restart is no moment in which nothing can be lost.
func TestSpecChangeWhileAWorkerRestarts(t *testing.T) {
	t.Parallel()
	edited := editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })
	pods := with("worker", view.Running, view.Leaving)
	require.NotNil(t, Decide(created(t, vcbatch.Restarting, pods, edited), config).Waiting, "a gang starts over")
	alone := func(v *view.View) {
		v.VolcanoJob.Spec.Tasks[1].Policies = append(v.VolcanoJob.Spec.Tasks[1].Policies, vcbatch.LifecyclePolicy{Action: vcbus.RestartPodAction})
	}
	require.Equal(t, ReasonSpecChangeNotApplied, Decide(created(t, vcbatch.Restarting, pods, edited, alone), config).Unapplied.Reason)
}

func TestCommandNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "complete-uid", CommandName(vcbus.CompleteJobAction, "uid", ""))
	require.Equal(t, "resume-uid-2", CommandName(vcbus.ResumeJobAction, "uid", "2"))
	require.Equal(t, "openqueue-uid", CommandName(vcbus.OpenQueueAction, "uid", ""))
}

func TestMissedFailure(t *testing.T) {
	t.Parallel()
	failedBefore := func(code int32, ago time.Duration) change {
		return func(v *view.View) {
			v.Now = seenAt
			exits(code)(v)
			v.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(ago)
		}
	}
	decide := func(phase vcbatch.JobPhase, with ...change) gist {
		plan := Decide(created(t, phase, with...), config)
		plan.Missing = nil
		return gistOf(plan)
	}
	require.Equal(t, gist{lookAgain: 20 * time.Second}, decide(vcbatch.Running, failedBefore(1, 10*time.Second)))
	require.Equal(t, gist{does: []string{"RestartJob"}, lookAgain: CommandPeriod}, decide(vcbatch.Running, failedBefore(1, 30*time.Second)))
	require.Equal(t, gist{}, decide(vcbatch.Restarting, failedBefore(1, time.Hour)), "Volcano is at it")
	require.Equal(t, gist{}, decide(vcbatch.Running, failedBefore(0, time.Hour)), "nobody knows when")
	delayed := stopped(t, vcbatch.Running, 1, 0, 0, failedBefore(1, time.Hour))
	delayed.PodGroup = created(t, vcbatch.Running).PodGroup
	require.Contains(t, done(Decide(delayed, config)), "AbortJob")
}
