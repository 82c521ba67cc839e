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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

func TestDelayBefore(t *testing.T) {
	t.Parallel()
	var delays []time.Duration
	for restarts := range int32(9) {
		delays = append(delays, backoffDelay(restarts))
	}
	require.Equal(t, []time.Duration{
		0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second, 6 * time.Minute, 6 * time.Minute,
	}, delays)
	require.Equal(t, 6*time.Minute, backoffDelay(1<<30))
}

// stopped is a job with a backoff limit that Volcano has stopped a while ago, after as many restarts.
func stopped(t *testing.T, phase vcbatch.JobPhase, limit, retries int32, ago time.Duration, with ...change) *observed.State {
	t.Helper()
	delayed := runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To(limit) })
	obs := submitted(delayed)
	obs.VolcanoJob = volcanoJobOf(t, Decide(obs, config)).DeepCopy()
	obs.VolcanoJob.UID = "vc-uid"
	obs.VolcanoJob.Status.RetryCount = retries
	obs.Job.Status.Recreations = 1 // so that its deletion counts as written down
	obs.VolcanoJob.Status.State = vcbatch.JobState{Phase: phase, LastTransitionTime: *before(ago)}
	for _, c := range with {
		c(obs)
	}
	return obs
}

func TestRetry(t *testing.T) {
	t.Parallel()
	failed := with("worker", observed.Succeeded, observed.Failed)
	// counted is a status that has counted the next restart, and so many failures.
	counted := func(restarts, failures int32) change {
		return statusOf(func(s *v1.PaddleJobStatus) { tell(s, v1.Restarting); s.Restarts, s.Failures = restarts, failures })
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	// disrupted adds a worker with the condition DisruptionTarget, since so long ago; its peers failed 10 s ago.
	disrupted := func(reason string, ago time.Duration) change {
		return func(obs *observed.State) {
			obs.Now = seenAt
			exits(1)(obs)
			obs.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(10 * time.Second)
			lost := podOf("worker", 1, observed.Running, obs.VolcanoJob)
			lost.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: reason, LastTransitionTime: *before(ago)}}
			obs.Pods = append(obs.Pods, lost)
		}
	}
	deleted := func(obs *observed.State) {
		obs.Now = seenAt
		exits(1)(obs)
		obs.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(10 * time.Second)
		absent := podOf("worker", 1, observed.Running, obs.VolcanoJob)
		absent.DeletionTimestamp, absent.DeletionGracePeriodSeconds = before(-18*time.Second), ptr.To[int64](30)
		obs.Pods = append(obs.Pods, absent)
	}
	noticed := func(reason string) change {
		return func(obs *observed.State) {
			obs.Failure = &observed.Failure{Reason: reason, Attempt: obs.VolcanoJob.Status.RetryCount}
		}
	}
	reported := func(obs *observed.State) {
		for _, pod := range obs.Pods {
			pod.Annotations[v1.OutOfSyncAnnotation] = "true"
		}
	}
	restarting := phase(v1.Restarting)
	// recreated is a Volcano Job in place of one that failed, which is aborted so long after its creation.
	recreated := func(age time.Duration) change {
		return func(obs *observed.State) {
			obs.VolcanoJob.CreationTimestamp = metav1.NewTime(obs.VolcanoJob.Status.State.LastTransitionTime.Add(-age))
			obs.VolcanoJob.Annotations[v1.RecreationsAnnotation] = "1"
			meta.SetStatusCondition(&obs.Job.Status.Conditions, metav1.Condition{Type: v1.ConditionRestarting, Status: metav1.ConditionTrue})
		}
	}
	obeyed := func(obs *observed.State) { obs.EarlierCommand = true }
	for name, tc := range map[string]struct {
		phase        vcbatch.JobPhase
		limit        int32
		retries      int32
		ago          time.Duration
		with         []change
		does         []string
		failed       string
		retrying     bool
		repeated     bool
		failures     int32
		requeueAfter time.Duration
	}{
		"pods are being stopped":  {phase: vcbatch.Aborting, limit: 3, with: []change{failed}, retrying: true, requeueAfter: volcano.StuckGracePeriod},
		"a failure is counted":    {phase: vcbatch.Aborted, limit: 3, with: []change{failed}, retrying: true, repeated: true, failures: 1},
		"it was counted":          {phase: vcbatch.Aborted, limit: 3, with: []change{failed, counted(1, 1)}, retrying: true, does: []string{"delete pod job-worker-0", "delete pod job-worker-1"}},
		"an eviction was seen":    {phase: vcbatch.Aborted, limit: 0, with: []change{failed, noticed(observed.ReasonPodEvicted)}, retrying: true, repeated: true},
		"a preemption":            {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("PreemptionByScheduler", 10*time.Second)}, retrying: true, repeated: true},
		"a preemption, too late":  {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("PreemptionByScheduler", 9*time.Second)}, failed: ReasonBackoffLimitExceeded},
		"a lost node shows late":  {phase: vcbatch.Aborted, limit: 0, with: []change{disrupted("DeletionByTaintManager", 0), noticed(observed.ReasonPodFailed)}, retrying: true, repeated: true},
		"deleted by somebody":     {phase: vcbatch.Aborted, limit: 0, with: []change{deleted}, retrying: true, repeated: true},
		"what failed was deleted": {phase: vcbatch.Aborted, limit: 0, with: []change{restarting}, retrying: true, repeated: true},
		"its next pods are seen before it": {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Hour, retrying: true, with: []change{counted(2, 2), with("worker", observed.Running), func(obs *observed.State) {
			obs.Pods[0].Annotations[vcbatch.JobRetryCountKey] = "2"
		}}},
		"its pods are on their way out":     {phase: vcbatch.Aborted, limit: 3, retrying: true, with: []change{counted(1, 1), with("worker", observed.Terminating)}},
		"its pods are gone":                 {phase: vcbatch.Aborted, limit: 3, with: []change{counted(1, 1)}, retrying: true, does: []string{"ResumeJob"}, requeueAfter: volcano.CommandPeriod},
		"the second time, too early":        {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 4 * time.Second, with: []change{failed, counted(2, 2)}, retrying: true, requeueAfter: 6 * time.Second},
		"after an eviction, at once":        {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 4 * time.Second, with: []change{noticed(observed.ReasonPodEvicted), counted(2, 2)}, retrying: true, does: []string{"ResumeJob"}, requeueAfter: volcano.CommandPeriod},
		"the second time":                   {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: 10 * time.Second, with: []change{counted(2, 2)}, retrying: true, does: []string{"ResumeJob"}, requeueAfter: volcano.CommandPeriod},
		"the first failure after evictions": {phase: vcbatch.Aborted, limit: 1, retries: 9, with: []change{failed}, retrying: true, repeated: true, failures: 1},
		"once too often":                    {phase: vcbatch.Aborted, limit: 1, with: []change{failed, had(1)}, failed: ReasonBackoffLimitExceeded},
		"none allowed":                      {phase: vcbatch.Aborted, limit: 0, with: []change{failed}, failed: ReasonBackoffLimitExceeded},
		"a pod that no longer exists":       {phase: vcbatch.Aborted, limit: 0, with: []change{noticed(observed.ReasonPodFailed)}, failed: ReasonBackoffLimitExceeded},
		"an older failure":                  {phase: vcbatch.Aborted, limit: 3, retries: 1, ago: time.Minute, with: []change{func(obs *observed.State) { obs.Failure = &observed.Failure{Reason: observed.ReasonPodFailed} }}},
		"aborted by hand":                   {phase: vcbatch.Aborted, limit: 0, ago: time.Minute},
		"a command about its predecessor":   {phase: vcbatch.Aborted, limit: 1, ago: time.Minute, with: []change{had(1), recreated(volcano.StaleCommandPeriod - 1)}, retrying: true, repeated: true},
		"aborting, by the same command":     {phase: vcbatch.Aborting, limit: 1, ago: 20 * time.Second, with: []change{had(1), recreated(volcano.StaleCommandPeriod - 1)}, retrying: true, requeueAfter: volcano.StuckGracePeriod - 20*time.Second},
		"the same, and a failure":           {phase: vcbatch.Aborted, limit: 1, with: []change{failed, had(1), recreated(volcano.StaleCommandPeriod - 1)}, failed: ReasonBackoffLimitExceeded},
		"by hand, later":                    {phase: vcbatch.Aborted, limit: 1, ago: time.Minute, with: []change{recreated(volcano.StaleCommandPeriod)}},
		"a command about its namesake":      {phase: vcbatch.Aborted, limit: 0, ago: time.Minute, with: []change{obeyed}, retrying: true, repeated: true},
		"and a failure":                     {phase: vcbatch.Aborted, limit: 0, with: []change{failed, obeyed}, failed: ReasonBackoffLimitExceeded},
		"terminating by one":                {phase: vcbatch.Terminating, limit: 0, ago: time.Minute, with: []change{obeyed}, retrying: true, repeated: true},
		"terminated by one":                 {phase: vcbatch.Terminated, limit: 0, ago: time.Minute, with: []change{obeyed}, retrying: true, repeated: true},
		"terminated by one, counted":        {phase: vcbatch.Terminated, limit: 0, ago: time.Minute, with: []change{obeyed, statusOf(func(s *v1.PaddleJobStatus) { s.Restarts, s.Recreations = 1, 1 })}, retrying: true, does: []string{"delete Volcano Job job"}},
		"completed by one":                  {phase: vcbatch.Completed, limit: 0, ago: time.Minute, with: []change{obeyed}, retrying: true, repeated: true},
		"completed in spite of it":          {phase: vcbatch.Completed, limit: 0, ago: time.Minute, with: []change{obeyed, with("worker", observed.Succeeded, observed.Succeeded)}},
		"terminated by hand":                {phase: vcbatch.Terminated, limit: 0, ago: time.Minute},
		"by hand, once it ran again":        {phase: vcbatch.Aborted, limit: 1, ago: time.Minute, with: []change{recreated(0), statusOf(func(s *v1.PaddleJobStatus) { s.Conditions = nil })}},
		"by hand, before any failure":       {phase: vcbatch.Aborted, limit: 1, ago: time.Minute, with: []change{recreated(0), func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.RecreationsAnnotation] = "0" }}},
		"aborted by hand, and the programs fail": {phase: vcbatch.Aborted, limit: 3, ago: time.Minute, with: []change{failed, reported, func(obs *observed.State) {
			obs.Failure = &observed.Failure{Reason: observed.ReasonPodFailed, Attempt: obs.VolcanoJob.Status.RetryCount, ByVolcano: true}
		}}},
		"aborting by hand, and the programs fail": {phase: vcbatch.Aborting, limit: 3, ago: time.Minute, with: []change{failed, reported}},
		"stopped, with a permanent exit code":     {phase: vcbatch.Aborted, limit: 9, retrying: true, repeated: true, with: []change{exits(42), reported, restarting}},
		"evictions, more than the limit":          {phase: vcbatch.Running, limit: 1, retries: 9, does: []string{"apply PodGroup job-vc-uid"}},
		"a permanent exit code":                   {phase: vcbatch.Aborted, limit: 9, failed: ReasonPermanentExitCode, with: []change{exits(42)}},
		"another exit code":                       {phase: vcbatch.Aborted, limit: 9, retrying: true, repeated: true, failures: 1, with: []change{exits(41)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := stopped(t, tc.phase, tc.limit, tc.retries, tc.ago, append(tc.with, func(obs *observed.State) {
				obs.Job.Spec.RunPolicy.PermanentExitCodes = []int32{42}
			})...)
			plan := Decide(obs, config)
			plan.Missing = nil
			require.Equal(t, tc.does, done(plan))
			require.Equal(t, tc.retrying, plan.Retrying != nil)
			require.Equal(t, tc.repeated, plan.CountRestart)
			require.Equal(t, tc.failures, plan.Failures)
			require.Equal(t, tc.requeueAfter, plan.RequeueAfter)
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
		return func(obs *observed.State) { obs.Pods[0].Annotations[v1.FailureAnnotation] = number }
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	for name, tc := range map[string]struct {
		with     []change
		does     []string
		failures int32
		failed   string
	}{
		"it is given a number":  {does: []string{"annotate job-worker-0: " + v1.FailureAnnotation}},
		"it is counted":         {with: []change{numbered("1")}, failures: 1},
		"it was counted":        {with: []change{numbered("1"), had(1)}, does: []string{"delete pod job-worker-0"}},
		"the last one allowed":  {with: []change{had(1)}, does: []string{"annotate job-worker-0: " + v1.FailureAnnotation}},
		"once too often":        {with: []change{had(2)}, failed: ReasonBackoffLimitExceeded},
		"a permanent exit code": {with: []change{exits(42)}, failed: ReasonPermanentExitCode},
		"it was evicted": {with: []change{had(2), func(obs *observed.State) {
			obs.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
		}}, does: []string{"delete pod job-worker-0"}},
	} {
		obs := created(t, vcbatch.Running, runs(func(run *v1.RunPolicy) { run.PermanentExitCodes = []int32{42} }),
			func(obs *observed.State) { obs.VolcanoJob.Spec.Policies = nil }, with("worker", observed.Failed, observed.Running))
		for _, c := range tc.with {
			c(obs)
		}
		var plan Plan
		plan.restartWorkers(obs)
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
func TestWorkersAreCountedOnce(t *testing.T) {
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
		obs := created(t, vcbatch.Failed, func(obs *observed.State) { obs.VolcanoJob.Spec.Policies = nil }, with("worker", observed.Failed, observed.Failed),
			statusOf(func(s *v1.PaddleJobStatus) { s.Failures = tc.had }))
		obs.Failure = &observed.Failure{Reason: observed.ReasonPodFailed}
		obs.Pods = obs.Pods[:len(tc.numbers)]
		for i, number := range tc.numbers {
			obs.Pods[i].Annotations[v1.FailureAnnotation] = number
		}
		plan := Decide(obs, config)
		require.Equal(t, tc.failed, plan.Failed != nil, name)
		require.Equal(t, !tc.failed, plan.CountRestart, name)
		require.Equal(t, tc.failures, plan.Failures, name)
	}
}

// exits adds a worker that failed with a code.
func exits(code int32) change {
	return func(obs *observed.State) {
		with("worker", observed.Failed)(obs)
		obs.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}},
		}
	}
}

// Of a job of which single workers restart, a restart is no moment in which nothing can be lost.
func TestSpecChangeWhileAWorkerRestarts(t *testing.T) {
	t.Parallel()
	edited := editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })
	pods := with("worker", observed.Running, observed.Terminating)
	require.NotNil(t, Decide(created(t, vcbatch.Restarting, pods, edited), config).Waiting, "a gang starts over")
	alone := func(obs *observed.State) {
		obs.VolcanoJob.Spec.Policies = nil
	}
	require.Equal(t, ReasonSpecChangeNotApplied, Decide(created(t, vcbatch.Restarting, pods, edited, alone), config).SpecNotSynced.Reason)
}

func TestAbort(t *testing.T) {
	t.Parallel()
	// failed is worker 0, which failed so long ago.
	failed := func(ago time.Duration) change {
		return func(obs *observed.State) {
			exits(1)(obs)
			obs.Pods[0].Status.ContainerStatuses[1].State.Terminated.FinishedAt = *before(ago)
		}
	}
	first := func(does func(pod *corev1.Pod)) change { return func(obs *observed.State) { does(obs.Pods[0]) } }
	// other is worker 1.
	other := func(state observed.PodState, does func(pod *corev1.Pod)) change {
		return func(obs *observed.State) {
			pod := podOf("worker", 1, state, obs.VolcanoJob)
			does(pod)
			obs.Pods = append(obs.Pods, pod)
		}
	}
	servers := with("ps", observed.Running)
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
	restarting := phase(v1.Restarting)
	absent := func(obs *observed.State) {
		obs.Failure = &observed.Failure{Reason: observed.ReasonPodEvicted, Attempt: obs.VolcanoJob.Status.RetryCount}
	}
	alone := func(obs *observed.State) { obs.VolcanoJob.Spec.Policies = nil }
	server := func(obs *observed.State) {
		obs.Pods = append(obs.Pods, podOf("ps", 0, observed.Failed, obs.VolcanoJob))
		observed.SortPods(obs.Pods)
	}
	for name, tc := range map[string]struct {
		phase        vcbatch.JobPhase
		with         []change
		retrying     bool
		does         []string
		requeueAfter time.Duration
	}{
		"nothing failed":                  {phase: vcbatch.Running, with: []change{servers, with("worker", observed.Running, observed.Running), restarting}},
		"a failure":                       {phase: vcbatch.Running, with: []change{failed(0), servers, other(observed.Running, runs)}, retrying: true},
		"it is in the status":             {phase: vcbatch.Running, with: []change{failed(0), servers, other(observed.Running, runs), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"before all pods run":             {phase: vcbatch.Pending, with: []change{failed(0), other(observed.Unscheduled, runs), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"time not known":                  {phase: vcbatch.Running, with: []change{with("worker", observed.Failed), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"Volcano restarts it":             {phase: vcbatch.Restarting, with: []change{failed(time.Hour), restarting}},
		"stopped":                         {phase: vcbatch.Running, with: []change{failed(0), first(func(pod *corev1.Pod) { pod.Annotations[v1.OutOfSyncAnnotation] = "true" }), restarting}},
		"of an earlier attempt":           {phase: vcbatch.Pending, with: []change{failed(0), first(func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = "0" }), retried, restarting}},
		"it has started again, seen late": {phase: vcbatch.Running, with: []change{failed(0), other(observed.Running, func(pod *corev1.Pod) { pod.Annotations[vcbatch.JobRetryCountKey] = "1" }), restarting}},

		"it was evicted":                        {phase: vcbatch.Running, with: []change{failed(10 * time.Second), first(evicted(15*time.Second, -15*time.Second)), servers, other(observed.Running, runs), restarting}, requeueAfter: 45 * time.Second},
		"a peer is evicted":                     {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(observed.Running, evicted(15*time.Second, -15*time.Second)), restarting}, requeueAfter: 45 * time.Second},
		"a peer stays too long":                 {phase: vcbatch.Running, with: []change{failed(31 * time.Second), servers, other(observed.Running, evicted(60*time.Second, 30*time.Second)), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"a peer was evicted":                    {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, absent, restarting}, requeueAfter: 20 * time.Second},
		"a peer was evicted, and Volcano waits": {phase: vcbatch.Running, with: []change{failed(30 * time.Second), servers, absent, restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"a peer was evicted by its node":        {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(observed.Failed, stays), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"a peer is evicted after it":            {phase: vcbatch.Running, with: []change{failed(10 * time.Second), servers, other(observed.Running, evicted(9*time.Second, -21*time.Second)), restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"a worker that starts again alone":      {phase: vcbatch.Running, with: []change{failed(0), other(observed.Running, runs), servers, alone, restarting}},
		"a server does not":                     {phase: vcbatch.Running, with: []change{with("worker", observed.Running, observed.Running), server, alone, restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
		"a server, and a worker is evicted":     {phase: vcbatch.Running, with: []change{server, other(observed.Running, evicted(15*time.Second, -15*time.Second)), alone, restarting}, retrying: true, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := created(t, tc.phase, tc.with...)
			obs.Now = seenAt
			var plan Plan
			plan.abort(obs)
			require.Equal(t, tc.does, done(plan))
			require.Equal(t, tc.requeueAfter, plan.RequeueAfter)
			require.Equal(t, tc.retrying, plan.Retrying != nil)
		})
	}
}

func retried(obs *observed.State) { obs.VolcanoJob.Status.RetryCount = 1 }

// All pods of a gang have failed before Volcano looked at the first, so that it has failed the Job without a restart.
func TestRecreate(t *testing.T) {
	t.Parallel()
	failed := with("worker", observed.Failed, observed.Failed)
	noted := func(restarts int32) change {
		return statusOf(func(s *v1.PaddleJobStatus) { tell(s, v1.Restarting); s.Restarts = restarts })
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	retried := func(count int32) change {
		return func(obs *observed.State) { obs.VolcanoJob.Status.RetryCount = count }
	}
	earlier := func(obs *observed.State) { obs.VolcanoJob.Annotations[v1.EarlierRestartsAnnotation] = "2" }
	environment := func(obs *observed.State) {
		obs.Environment = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	}
	leaving := func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = &metav1.Time{} }
	type outcome struct {
		does         []string
		repeated     bool
		retrying     bool
		failed       string
		requeueAfter time.Duration
	}
	outcomeOf := func(obs *observed.State) outcome {
		plan := Decide(obs, config)
		o := outcome{does: done(plan), repeated: plan.CountRestart, retrying: plan.Retrying != nil, requeueAfter: plan.RequeueAfter}
		if plan.Failed != nil {
			o.failed = plan.Failed.Reason
		}
		return o
	}
	starts := outcome{does: []string{"delete Volcano Job job"}, retrying: true}
	for name, tc := range map[string]struct {
		with []change
		want outcome
	}{
		"it is written down first": {want: outcome{repeated: true, retrying: true}},
		"it is written down":       {with: []change{noted(1)}, want: starts},
		"with its environment": {with: []change{noted(1), environment},
			want: outcome{does: []string{"delete ConfigMap job", "delete Volcano Job job"}, retrying: true}},
		"it is on its way out":                      {with: []change{noted(1), leaving}, want: outcome{retrying: true}},
		"after a restart of Volcano's":              {with: []change{retried(1), noted(1)}, want: outcome{repeated: true, retrying: true}},
		"and noted":                                 {with: []change{retried(1), noted(2)}, want: starts},
		"evictions under earlier ones do not count": {with: []change{earlier, noted(2)}, want: outcome{repeated: true, retrying: true}},
		"it has ended":                              {with: []change{statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Failed }), noPodGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, outcomeOf(created(t, vcbatch.Failed, append([]change{failed}, tc.with...)...)))
		})
	}
	t.Run("with a limit of the user's", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, outcome{repeated: true, retrying: true}, outcomeOf(stopped(t, vcbatch.Failed, 2, 0, 0, failed)))
		require.Equal(t, outcome{retrying: true, requeueAfter: 6 * time.Second}, outcomeOf(stopped(t, vcbatch.Failed, 2, 1, 4*time.Second, failed, noted(2), had(2))))
		require.Equal(t, starts, outcomeOf(stopped(t, vcbatch.Failed, 2, 1, 10*time.Second, failed, noted(2), had(2))))
		require.Equal(t, outcome{failed: ReasonBackoffLimitExceeded}, outcomeOf(stopped(t, vcbatch.Failed, 2, 2, 0, failed, had(2))))
		require.Equal(t, outcome{failed: ReasonBackoffLimitExceeded}, outcomeOf(stopped(t, vcbatch.Failed, 0, 0, 0, failed)))
		code := func(obs *observed.State) { obs.Job.Spec.RunPolicy.PermanentExitCodes = []int32{42} }
		require.Equal(t, outcome{failed: ReasonPermanentExitCode}, outcomeOf(stopped(t, vcbatch.Failed, 2, 0, 0, exits(42), code)))
	})
	t.Run("suspended meanwhile", func(t *testing.T) {
		t.Parallel()
		obs := stopped(t, vcbatch.Failed, 2, 1, 4*time.Second, failed, runs(func(run *v1.RunPolicy) { yes := true; run.Suspend = &yes }))
		plan := Decide(obs, config)
		require.NotNil(t, plan.Suspended)
		require.Equal(t, []string{"delete Volcano Job job"}, done(plan))
	})
}
