// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func unheeded(ago time.Duration) change { return func(v *view.View) { v.Unheeded = ago } }

func restarting(restarts int32) change {
	return statusOf(func(s *v1.PaddleJobStatus) { s.Phase, s.Restarts = v1.Restarting, restarts })
}

func retries(n int32) change { return func(v *view.View) { v.VolcanoJob.Status.RetryCount = n } }

// Volcano reads commands about a Volcano Job and does nothing.
func TestForgotten(t *testing.T) {
	t.Parallel()
	type outcome struct {
		does             []string
		waiting          string
		again, succeeded bool
		failed           string
	}
	outcomeOf := func(v *view.View) outcome {
		plan := Decide(v, config)
		o := outcome{does: done(plan), waiting: gistOf(plan).waiting, again: plan.Again, succeeded: plan.Succeeded}
		if plan.Failed != nil {
			o.failed = plan.Failed.Reason
		}
		return o
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	workers := func(states ...view.State) change { return with("worker", states...) }
	servers := with("ps", view.Running)
	anew := []string{"delete Volcano Job job"}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  outcome
	}{
		"not for long": {phase: vcbatch.Running, with: []change{workers(view.Failed, view.Running), servers, unheeded(forgottenGrace - 1)}},
		"a failure is written down first": {phase: vcbatch.Running, with: []change{workers(view.Failed, view.Running), servers},
			want: outcome{again: true}},
		"a failure": {phase: vcbatch.Running, with: []change{workers(view.Failed, view.Running), servers, restarting(1)},
			want: outcome{does: anew}},
		"the last failure": {phase: vcbatch.Running, with: []change{workers(view.Failed, view.Running), servers, retries(2), restarting(2), had(2)},
			want: outcome{failed: ReasonBackoffLimitExceeded}},
		"success": {phase: vcbatch.Running, with: []change{workers(view.Succeeded, view.Succeeded), servers},
			want: outcome{succeeded: true}},
		"on its way to success": {phase: vcbatch.Completing, want: outcome{succeeded: true}},
		"on its way to nothing": {phase: vcbatch.Terminating, want: outcome{failed: ReasonTerminated}},
		"on its way to another attempt": {phase: vcbatch.Restarting, with: []change{retries(1), restarting(1)},
			want: outcome{does: anew, waiting: ReasonReplacing}},
		"pods are left of the last attempt": {phase: vcbatch.Restarting, with: []change{workers(view.Failed, view.Failed), retries(1), restarting(2)},
			want: outcome{does: anew}},
		"it is on its way out": {phase: vcbatch.Running, with: []change{workers(view.Failed, view.Running), restarting(1),
			func(v *view.View) { v.VolcanoJob.DeletionTimestamp = before(0) }}, want: outcome{waiting: ReasonReplacing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, outcomeOf(created(t, tc.phase, append([]change{unheeded(forgottenGrace)}, tc.with...)...)))
		})
	}
	t.Run("with a limit of the user's", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, outcome{again: true}, outcomeOf(stopped(t, vcbatch.Aborted, 2, 0, time.Hour, restarting(0), unheeded(forgottenGrace))))
		require.Equal(t, outcome{does: anew}, outcomeOf(stopped(t, vcbatch.Aborted, 2, 0, time.Hour, restarting(1), unheeded(forgottenGrace))))
	})
	t.Run("it has ended", func(t *testing.T) {
		t.Parallel()
		over := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Completed })
		v := created(t, vcbatch.Running, workers(view.Succeeded, view.Succeeded), servers, over, noPodGroup,
			func(v *view.View) { v.Job.Spec.CleanPodPolicy = v1.CleanNever })
		require.Equal(t, outcome{does: []string{"TerminateJob"}}, outcomeOf(v))
		v.Unheeded = forgottenGrace
		require.Equal(t, outcome{does: []string{"delete pod job-ps-0"}}, outcomeOf(v), "what runs goes, what has ended stays")
	})
}

// Volcano was away when the last pod went.
func TestStuck(t *testing.T) {
	t.Parallel()
	slow := func(slowest time.Duration) change { return func(v *view.View) { v.Ends.Slowest = slowest } }
	over := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Failed })
	for name, tc := range map[string]struct {
		v    *view.View
		want gist
	}{
		"a moment":            {v: stopped(t, vcbatch.Restarting, 2, 1, stuckGrace-time.Second), want: gist{lookAgain: time.Second}},
		"a while":             {v: stopped(t, vcbatch.Restarting, 2, 1, stuckGrace), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"pods are in the way": {v: stopped(t, vcbatch.Restarting, 2, 1, stuckGrace, with("worker", view.Running)), want: gist{}},
		"those have ended":    {v: stopped(t, vcbatch.Completing, 2, 1, stuckGrace, with("worker", view.Succeeded)), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"a failure":           {v: stopped(t, vcbatch.Aborting, 2, 0, stuckGrace, restarting(1)), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"somebody's abortion": {v: stopped(t, vcbatch.Aborting, 2, 0, stuckGrace), want: gist{}},
		"Volcano is slow":     {v: stopped(t, vcbatch.Completing, 2, 1, stuckGrace, slow(time.Minute)), want: gist{lookAgain: time.Minute}},
		"slower than ever":    {v: stopped(t, vcbatch.Completing, 2, 1, completeMost, slow(time.Hour)), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"slow at completions": {v: stopped(t, vcbatch.Restarting, 2, 1, stuckGrace, slow(time.Minute)), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"it has ended":        {v: stopped(t, vcbatch.Terminating, 2, 0, stuckGrace, over), want: gist{does: []string{"SyncJob"}, lookAgain: CommandPeriod}},
		"it rests":            {v: stopped(t, vcbatch.Terminated, 2, 0, stuckGrace, over), want: gist{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(tc.v, config)))
		})
	}
}

// Only what shows in the Volcano Job tells that Volcano has done what it was told.
func TestStateOfCommands(t *testing.T) {
	t.Parallel()
	state := func(v *view.View) string {
		plan := Decide(v, config)
		for _, action := range plan.Actions {
			if c, ok := action.(IssueCommand); ok {
				return c.State
			}
		}
		require.Fail(t, "there is no command", "%v", plan)
		return ""
	}
	require.Equal(t, "vc-uid Restarting 1", state(stopped(t, vcbatch.Restarting, 2, 1, stuckGrace)))
	require.Equal(t, "vc-uid Aborted 1", state(stopped(t, vcbatch.Aborted, 2, 1, time.Hour, restarting(2))))
	require.Empty(t, state(created(t, vcbatch.Pending, func(v *view.View) {
		v.Now, v.UnmadeSince = seenAt, seenAt.Add(-unmadeGrace)
	})), "a quota may be why there are no pods")
}
