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
	v.Job.Status.Recreations = 1 // so that its deletion counts as written down
	v.VolcanoJob.Status.State = vcbatch.JobState{Phase: phase, LastTransitionTime: *before(ago)}
	for _, c := range with {
		c(v)
	}
	return v
}

func TestRetry(t *testing.T) {
	t.Parallel()
	failed := with("worker", view.Succeeded, view.Failed)
	// counted is a status that has counted the next restart, and so many failures.
	counted := func(restarts, failures int32) change {
		return statusOf(func(s *v1.PaddleJobStatus) { s.Phase, s.Restarts, s.Failures = v1.Restarting, restarts, failures })
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	// disrupted adds a worker with the condition DisruptionTarget, since so long ago; its peers failed 10 s ago.
	disrupted := func(reason string, ago time.Duration) change {
		return func(v *view.View) {
			v.Now = seenAt
			exits(1)(v)
			v.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(10 * time.Second)
			lost := podOf("worker", 1, view.Running, v.VolcanoJob)
			lost.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: *before(ago)}}
			v.Pods = append(v.Pods, lost)
		}
	}
	deleted := func(v *view.View) {
		v.Now = seenAt
		exits(1)(v)
		v.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(10 * time.Second)
		gone := podOf("worker", 1, view.Running, v.VolcanoJob)
		gone.DeletionTimestamp, gone.DeletionGracePeriodSeconds = before(-18*time.Second), ptr.To[int64](30)
		v.Pods = append(v.Pods, gone)
	}
	noticed := func(reason string) change {
		return func(v *view.View) {
			v.Failure = &view.Failure{Reason: reason, Attempt: v.VolcanoJob.Status.RetryCount}
		}
	}
	told := func(v *view.View) {
		for _, pod := range v.Pods {
			pod.Annotations[keys.OutOfSync] = "true"
		}
	}
	restarting := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Restarting })
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		limit     int32
		retries   int32
		ago       time.Duration
		with      []change
		does      []string
		failed    string
		retrying  bool
		again     bool
		failures  int32
		lookAgain time.Duration
	}{
		"pods are being stopped":  {phase: vcbatch.Aborting, limit: 3, with: []change{failed}, retrying: true, lookAgain: stuckGrace},
		"a failure is counted":    {phase: vcbatch.Aborted, limit: 3, with: []change{failed}, retrying: true, again: true, failures: 1},
		"it was counted":          {phase: vcbatch.Aborted, limit: 3, with: []change{failed, counted(1, 1)}, retrying: true, does: []string{"delete pod job-worker-0", "delete pod job-worker-1"}},
		"an eviction was seen":    {phase: vcbatch.Aborted, limit: 0, with: []change{failed, noticed(view.ReasonPodEvicted)}, retrying: true, again: true},
		"a preemption":            {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("PreemptionByScheduler", 10*time.Second)}, retrying: true, again: true},
		"a preemption, too late":  {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("PreemptionByScheduler", 9*time.Second)}, failed: ReasonBackoffLimitExceeded},
		"a lost node shows late":  {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("DeletionByTaintManager", 0), noticed(view.ReasonPodFailed)}, retrying: true, again: true},
		"deleted by somebody":     {phase: vcbatch.Aborted, limit: 0, with: []change{deleted}, retrying: true, again: true},
		"what failed was deleted": {phase: vcbatch.Aborted, limit: 0, with: []change{restarting}, retrying: true, again: true},
		"its next pods are seen before it": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Hour, retrying: true, with: []change{counted(2, 2), with("worker", view.Running), func(v *view.View) {
			v.Pods[0].Annotations[vcbatch.JobRetryCountKey] = "2"
		}}},
		"its pods are on their way out":     {phase: vcbatch.Aborted, limit: 3, retrying: true, with: []change{counted(1, 1), with("worker", view.Leaving)}},
		"its pods are gone":                 {phase: vcbatch.Aborted, limit: 3, with: []change{counted(1, 1)}, retrying: true, does: []string{"ResumeJob"}, lookAgain: CommandPeriod},
		"the second time, too early":        {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 4 * time.Second, with: []change{failed, counted(2, 2)}, retrying: true, lookAgain: 6 * time.Second},
		"after an eviction, at once":        {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 4 * time.Second, with: []change{noticed(view.ReasonPodEvicted), counted(2, 2)}, retrying: true, does: []string{"ResumeJob"}, lookAgain: CommandPeriod},
		"the second time":                   {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 10 * time.Second, with: []change{counted(2, 2)}, retrying: true, does: []string{"ResumeJob"}, lookAgain: CommandPeriod},
		"the first failure after evictions": {phase: vcbatch.Aborted, limit: 1, retries: 9, with: []change{failed}, retrying: true, again: true, failures: 1},
		"once too often":                    {phase: vcbatch.Aborted, limit: 1, with: []change{failed, had(1)}, failed: ReasonBackoffLimitExceeded},
		"none allowed":                      {phase: vcbatch.Aborted, limit: 0, with: []change{failed}, failed: ReasonBackoffLimitExceeded},
		"a pod that nobody sees any more":   {phase: vcbatch.Aborted, limit: 0, with: []change{noticed(view.ReasonPodFailed)}, failed: ReasonBackoffLimitExceeded},
		"an older failure":                  {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Minute, with: []change{func(v *view.View) { v.Failure = &view.Failure{Reason: view.ReasonPodFailed} }}},
		"aborted by hand":                   {phase: vcbatch.Aborted, limit: 0, ago: time.Minute},
		"aborted by hand, and the programs fail": {phase: vcbatch.Aborted, limit: 3, ago: time.Minute, with: []change{failed, told, func(v *view.View) {
			v.Failure = &view.Failure{Reason: view.ReasonPodFailed, Attempt: v.VolcanoJob.Status.RetryCount, Told: true}
		}}},
		"aborting by hand, and the programs fail": {phase: vcbatch.Aborting, limit: 3, ago: time.Minute, with: []change{failed, told}},
		"told to end, with a permanent exit code": {phase: vcbatch.Aborted, limit: 9, retrying: true, again: true, with: []change{exits(42), told, restarting}},
		"evictions, more than the limit":          {phase: vcbatch.Running, limit: 1, retries: 9, does: []string{"apply PodGroup job-vc-uid"}},
		"a permanent exit code":                   {phase: vcbatch.Aborted, limit: 9, failed: ReasonPermanentExitCode, with: []change{exits(42)}},
		"another exit code":                       {phase: vcbatch.Aborted, limit: 9, retrying: true, again: true, failures: 1, with: []change{exits(41)}},
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
			require.Equal(t, tc.again, plan.Again)
			require.Equal(t, tc.failures, plan.Failures)
			require.Equal(t, tc.lookAgain, plan.LookAgain)
			reason := ""
			if plan.Failed != nil {
				reason = plan.Failed.Reason
			}
			require.Equal(t, tc.failed, reason)
		})
	}
}

func TestRestartWorkers(t *testing.T) {
	t.Parallel()
	numbered := func(number string) change {
		return func(v *view.View) { v.Pods[0].Annotations[keys.Failure] = number }
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	for name, tc := range map[string]struct {
		with     []change
		does     []string
		failures int32
		failed   string
	}{
		"it is given a number":  {does: []string{"annotate job-worker-0: " + keys.Failure}},
		"it is counted":         {with: []change{numbered("1")}, failures: 1},
		"it was counted":        {with: []change{numbered("1"), had(1)}, does: []string{"delete pod job-worker-0"}},
		"once too often":        {with: []change{had(2)}, failed: ReasonBackoffLimitExceeded},
		"a permanent exit code": {with: []change{exits(42)}, failed: ReasonPermanentExitCode},
		"it was evicted": {with: []change{had(2), func(v *view.View) {
			v.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}}, does: []string{"delete pod job-worker-0"}},
	} {
		v := created(t, vcbatch.Running, runs(func(run *v1.RunPolicy) { run.PermanentExitCodes = []int32{42} }),
			func(v *view.View) { v.VolcanoJob.Spec.Policies = nil }, with("worker", view.Failed, view.Running))
		for _, c := range tc.with {
			c(v)
		}
		var plan Plan
		plan.restartWorkers(v)
		require.Equal(t, tc.does, done(plan), name)
		require.Equal(t, tc.failures, plan.Failures, name)
		if tc.failed == "" {
			require.Nil(t, plan.Failed, name)
			continue
		}
		require.Equal(t, tc.failed, plan.Failed.Reason, name)
	}
}

// Volcano fails a Job whose workers have all failed, and the controller may have counted each of them before.
func TestWorkersThatWereCountedAreNotCountedAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		numbers  []string
		had      int32
		failures int32
		failed   bool
	}{
		"both are counted":                          {numbers: []string{"1", "2"}, had: 2},
		"one is not counted":                        {numbers: []string{"1", "2"}, had: 1, failures: 1},
		"one has no number":                         {numbers: []string{"1", ""}, had: 1, failures: 1},
		"one too many":                              {numbers: []string{"2", "3"}, had: 2, failed: true},
		"both are counted, and their pods are gone": {had: 2},
		"none is counted, and their pods are gone":  {failures: 1},
	} {
		v := created(t, vcbatch.Failed, func(v *view.View) { v.VolcanoJob.Spec.Policies = nil }, with("worker", view.Failed, view.Failed),
			statusOf(func(s *v1.PaddleJobStatus) { s.Failures = tc.had }))
		v.Failure = &view.Failure{Reason: view.ReasonPodFailed}
		v.Pods = v.Pods[:len(tc.numbers)]
		for i, number := range tc.numbers {
			v.Pods[i].Annotations[keys.Failure] = number
		}
		plan := Decide(v, config)
		require.Equal(t, tc.failed, plan.Failed != nil, name)
		require.Equal(t, !tc.failed, plan.Again, name)
		require.Equal(t, tc.failures, plan.Failures, name)
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

// Of a job of which single workers restart, a restart is no moment in which nothing can be lost.
func TestSpecChangeWhileAWorkerRestarts(t *testing.T) {
	t.Parallel()
	edited := editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })
	pods := with("worker", view.Running, view.Leaving)
	require.NotNil(t, Decide(created(t, vcbatch.Restarting, pods, edited), config).Waiting, "a gang starts over")
	alone := func(v *view.View) {
		v.VolcanoJob.Spec.Policies = nil
	}
	require.Equal(t, ReasonSpecChangeNotApplied, Decide(created(t, vcbatch.Restarting, pods, edited, alone), config).Unapplied.Reason)
}

func TestCommandNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "complete-uid", CommandName(vcbus.CompleteJobAction, "uid", ""))
	require.Equal(t, "resume-uid-2", CommandName(vcbus.ResumeJobAction, "uid", "2"))
	require.Equal(t, "openqueue-uid", CommandName(vcbus.OpenQueueAction, "uid", ""))
}
