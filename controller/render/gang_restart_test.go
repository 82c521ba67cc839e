// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func runs(run v1.RunPolicy) func(*v1.PaddleJob) {
	return func(job *v1.PaddleJob) { job.Spec.RunPolicy = &run }
}

func bounded(least, most int) func(*v1.PaddleJob) {
	return func(job *v1.PaddleJob) {
		job.Spec.Elastic, job.Spec.ElasticPolicy = ptr.To(1), &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
		job.Spec.Worker.Requests, job.Spec.Worker.Limits = &least, &most
	}
}

// policiesOf are a Volcano Job's policies, and those of its workers, as event=action.
func policiesOf(job *vcbatch.Job) (whole, worker []string) {
	short := func(policies []vcbatch.LifecyclePolicy) []string {
		var all []string
		for _, p := range policies {
			when := string(p.Event)
			if p.ExitCode != nil {
				when = string('0' + *p.ExitCode)
			}
			text := when + "=" + string(p.Action)
			if p.Timeout != nil {
				text += " after " + p.Timeout.Duration.String()
			}
			all = append(all, text)
		}
		return all
	}
	return short(job.Spec.Policies), short(job.Spec.Tasks[len(job.Spec.Tasks)-1].Policies)
}

func TestRestartPolicies(t *testing.T) {
	t.Parallel()
	gang := []string{"PodEvicted=RestartJob", "PodFailed=AbortJob after 8760h0m0s"}
	for name, tc := range map[string]struct {
		job            *v1.PaddleJob
		whole, servers []string
	}{
		"no run policy":   {job: paddleJob(1, 2), whole: gang},
		"only a deadline": {job: paddleJob(1, 2, runs(v1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](9)})), whole: gang},
		"a limit":         {job: paddleJob(1, 2, runs(v1.RunPolicy{BackoffLimit: ptr.To[int32](0)})), whole: gang},
		"exit codes":      {job: paddleJob(1, 2, runs(v1.RunPolicy{PermanentExitCodes: []int32{4}})), whole: gang},
		"workers alone": {job: paddleJob(1, 2, runs(v1.RunPolicy{RestartScope: v1.RestartPod, PermanentExitCodes: []int32{5, 4}})),
			servers: gang},
		"elastic": {job: paddleJob(0, 2, bounded(1, 4))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, Validate(tc.job, Wish{}, Config{}))
			job, _ := Job(tc.job, Wish{}, Config{})
			whole, worker := policiesOf(job)
			require.Equal(t, tc.whole, whole)
			require.Equal(t, []string{"TaskCompleted=CompleteJob"}, worker)
			require.Equal(t, unlimited, job.Spec.MaxRetry)
			require.True(t, LeavesFailures(job))
			for _, action := range []vcbus.Action{vcbus.AbortJobAction, vcbus.RestartJobAction} {
				earlier := &vcbatch.Job{Spec: vcbatch.JobSpec{Policies: []vcbatch.LifecyclePolicy{{Event: vcbus.PodFailedEvent, Action: action}}}}
				require.False(t, LeavesFailures(earlier), action)
			}
			if len(job.Spec.Tasks) > 1 {
				job.Spec.Policies = job.Spec.Tasks[0].Policies
				servers, _ := policiesOf(job)
				require.Equal(t, tc.servers, servers)
			}
		})
	}
}

func TestWhatOfTheRunPolicyMayChange(t *testing.T) {
	t.Parallel()
	hash := func(run v1.RunPolicy) string { return SpecHash(paddleJob(1, 2, runs(run))) }
	plain := SpecHash(paddleJob(1, 2))
	for _, same := range []v1.RunPolicy{
		{}, {Suspend: ptr.To(true)}, {ActiveDeadlineSeconds: ptr.To[int64](1)}, {TTLSecondsAfterFinished: ptr.To[int32](0)}, {RestartScope: v1.RestartGang},
	} {
		require.Equal(t, plain, hash(same))
	}
	require.Equal(t, plain, hash(v1.RunPolicy{BackoffLimit: ptr.To[int32](0), PermanentExitCodes: []int32{3}}), "the controller decides")
	require.NotEqual(t, plain, hash(v1.RunPolicy{RestartScope: v1.RestartPod}))

	elastic := func(replicas, least, most int) string { return SpecHash(paddleJob(0, replicas, bounded(least, most))) }
	require.Equal(t, elastic(2, 1, 4), elastic(4, 1, 4))
	require.NotEqual(t, elastic(2, 1, 4), elastic(5, 1, 4), "out of bounds")
	require.NotEqual(t, elastic(2, 1, 4), elastic(2, 1, 5))
	unbounded := func(replicas int) string {
		return SpecHash(paddleJob(0, replicas, bounded(1, 4), func(job *v1.PaddleJob) { job.Spec.Worker.Limits = nil }))
	}
	require.NotEqual(t, unbounded(2), unbounded(3), "the bound that is unset would follow")
}

func TestRunPolicyRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		run   v1.RunPolicy
		ps    int
		words string
	}{
		"no time":              {run: v1.RunPolicy{ActiveDeadlineSeconds: ptr.To[int64](0)}, ps: 1, words: "activeDeadlineSeconds is 0"},
		"before the end":       {run: v1.RunPolicy{TTLSecondsAfterFinished: ptr.To[int32](-1)}, ps: 1, words: "ttlSecondsAfterFinished is -1"},
		"less than none":       {run: v1.RunPolicy{BackoffLimit: ptr.To[int32](-1)}, ps: 1, words: "backoffLimit is -1"},
		"another scope":        {run: v1.RunPolicy{RestartScope: "Node"}, ps: 1, words: `restartScope "Node" does not exist`},
		"pod in collective":    {run: v1.RunPolicy{RestartScope: v1.RestartPod}, words: "restartScope Pod is for workers of PS mode"},
		"success is permanent": {run: v1.RunPolicy{PermanentExitCodes: []int32{0}}, ps: 1, words: "permanentExitCodes has 0"},
		"no exit code":         {run: v1.RunPolicy{PermanentExitCodes: []int32{256}}, ps: 1, words: "permanentExitCodes has 256"},
		"twice":                {run: v1.RunPolicy{PermanentExitCodes: []int32{3, 3}}, ps: 1, words: "permanentExitCodes has 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := Validate(paddleJob(tc.ps, 2, runs(tc.run)), Wish{}, Config{})
			require.Len(t, found, 1)
			require.Equal(t, ReasonInvalidRunPolicy, found[0].Reason)
			require.Contains(t, found[0].Message, tc.words)
		})
	}
}
