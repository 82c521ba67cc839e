// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

func unheeded(ago time.Duration) change {
	return func(obs *observed.State) { obs.UnacknowledgedFor = ago }
}

func restarting(restarts int32) change {
	return statusOf(func(s *v1.PaddleJobStatus) { tell(s, v1.Restarting); s.Restarts = restarts })
}

func retries(n int32) change {
	return func(obs *observed.State) { obs.VolcanoJob.Status.RetryCount = n }
}

// Volcano reads commands about a Volcano Job and does nothing.
func TestLostVolcanoJob(t *testing.T) {
	t.Parallel()
	type outcome struct {
		does                []string
		waiting             string
		repeated, succeeded bool
		failed              string
	}
	outcomeOf := func(obs *observed.State) outcome {
		plan := Decide(obs, config)
		o := outcome{does: done(plan), waiting: gistOf(plan).waiting, repeated: plan.CountRestart, succeeded: plan.Succeeded}
		if plan.Failed != nil {
			o.failed = plan.Failed.Reason
		}
		return o
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	workers := func(states ...observed.PodState) change { return with("worker", states...) }
	servers := with("ps", observed.Running)
	recreated := []string{"delete Volcano Job job"}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  outcome
	}{
		"not for long": {phase: vcbatch.Running, with: []change{workers(observed.Failed, observed.Running), servers, unheeded(volcano.LostGracePeriod - 1)}},
		"a failure is written down first": {phase: vcbatch.Running, with: []change{workers(observed.Failed, observed.Running), servers},
			want: outcome{repeated: true}},
		"a failure": {phase: vcbatch.Running, with: []change{workers(observed.Failed, observed.Running), servers, restarting(1)},
			want: outcome{does: recreated}},
		"the last failure": {phase: vcbatch.Running, with: []change{workers(observed.Failed, observed.Running), servers, retries(2), restarting(2), had(2)},
			want: outcome{failed: ReasonBackoffLimitExceeded}},
		"success": {phase: vcbatch.Running, with: []change{workers(observed.Succeeded, observed.Succeeded), servers},
			want: outcome{succeeded: true}},
		"on its way to success": {phase: vcbatch.Completing, want: outcome{succeeded: true}},
		"on its way to nothing": {phase: vcbatch.Terminating, want: outcome{failed: ReasonTerminated}},
		"on its way to another attempt": {phase: vcbatch.Restarting, with: []change{retries(1), restarting(1)},
			want: outcome{does: recreated, waiting: ReasonReplacing}},
		"pods are left of the last attempt": {phase: vcbatch.Restarting, with: []change{workers(observed.Failed, observed.Failed), retries(1), restarting(2)},
			want: outcome{does: recreated}},
		"it is on its way out": {phase: vcbatch.Running, with: []change{workers(observed.Failed, observed.Running), restarting(1),
			func(obs *observed.State) { obs.VolcanoJob.DeletionTimestamp = before(0) }}, want: outcome{waiting: ReasonReplacing}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, outcomeOf(created(t, tc.phase, append([]change{unheeded(volcano.LostGracePeriod)}, tc.with...)...)))
		})
	}
	t.Run("with a limit of the user's", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, outcome{repeated: true}, outcomeOf(stopped(t, vcbatch.Aborted, 2, 0, time.Hour, restarting(0), unheeded(volcano.LostGracePeriod))))
		require.Equal(t, outcome{does: recreated}, outcomeOf(stopped(t, vcbatch.Aborted, 2, 0, time.Hour, restarting(1), unheeded(volcano.LostGracePeriod))))
	})
	t.Run("it has ended", func(t *testing.T) {
		t.Parallel()
		over := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Completed })
		obs := created(t, vcbatch.Running, workers(observed.Succeeded, observed.Succeeded), servers, over, noPodGroup,
			func(obs *observed.State) { obs.Job.Spec.CleanPodPolicy = v1.CleanNever })
		require.Equal(t, outcome{does: []string{"TerminateJob"}}, outcomeOf(obs))
		obs.UnacknowledgedFor = volcano.LostGracePeriod
		require.Equal(t, outcome{does: []string{"delete pod job-ps-0"}}, outcomeOf(obs), "what runs goes, what has ended stays")
	})
}

// Volcano was away when the last pod went.
func TestStuck(t *testing.T) {
	t.Parallel()
	over := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Failed })
	for name, tc := range map[string]struct {
		obs  *observed.State
		want gist
	}{
		"a moment":            {obs: stopped(t, vcbatch.Restarting, 2, 1, volcano.StuckGracePeriod-time.Second), want: gist{requeueAfter: time.Second}},
		"a while":             {obs: stopped(t, vcbatch.Restarting, 2, 1, volcano.StuckGracePeriod), want: gist{does: []string{"SyncJob"}, requeueAfter: volcano.CommandPeriod}},
		"pods are in the way": {obs: stopped(t, vcbatch.Restarting, 2, 1, volcano.StuckGracePeriod, with("worker", observed.Running)), want: gist{}},
		"those have ended":    {obs: stopped(t, vcbatch.Completing, 2, 1, volcano.CompletionGracePeriod, with("worker", observed.Succeeded)), want: gist{does: []string{"SyncJob"}, requeueAfter: volcano.CommandPeriod}},
		"they ended just now": {obs: stopped(t, vcbatch.Completing, 2, 1, volcano.StuckGracePeriod, with("worker", observed.Succeeded)), want: gist{requeueAfter: volcano.CompletionGracePeriod - volcano.StuckGracePeriod}},
		"a failure":           {obs: stopped(t, vcbatch.Aborting, 2, 0, volcano.StuckGracePeriod, restarting(1)), want: gist{does: []string{"SyncJob"}, requeueAfter: volcano.CommandPeriod}},
		"somebody's abortion": {obs: stopped(t, vcbatch.Aborting, 2, 0, volcano.StuckGracePeriod), want: gist{}},
		"it has ended":        {obs: stopped(t, vcbatch.Terminating, 2, 0, volcano.StuckGracePeriod, over), want: gist{does: []string{"SyncJob"}, requeueAfter: volcano.CommandPeriod}},
		"it rests":            {obs: stopped(t, vcbatch.Terminated, 2, 0, volcano.StuckGracePeriod, over), want: gist{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(tc.obs, config)))
		})
	}
}

// Only a change of the Volcano Job shows that Volcano has executed a command.
func TestStateOfCommands(t *testing.T) {
	t.Parallel()
	state := func(obs *observed.State) string {
		plan := Decide(obs, config)
		for _, action := range plan.Actions {
			if c, ok := action.(IssueCommand); ok {
				return c.State
			}
		}
		require.Fail(t, "there is no command", "%v", plan)
		return ""
	}
	require.Equal(t, "vc-uid Restarting 1", state(stopped(t, vcbatch.Restarting, 2, 1, volcano.StuckGracePeriod)))
	require.Equal(t, "vc-uid Aborted 1", state(stopped(t, vcbatch.Aborted, 2, 1, time.Hour, restarting(2))))
	require.Empty(t, state(created(t, vcbatch.Pending, func(obs *observed.State) {
		obs.Now, obs.PodsMissingSince = seenAt, seenAt.Add(-volcano.MissingPodsGracePeriod)
	})), "a quota may be why there are no pods")
}

func TestMissingPods(t *testing.T) {
	t.Parallel()
	reported := []string{"SyncJob"}
	for waited, want := range map[time.Duration]gist{
		0:                                      {requeueAfter: PodEventsAfter},
		PodEventsAfter:                         {requeueAfter: EventsAfter - PodEventsAfter},
		4 * time.Second:                        {requeueAfter: time.Second},
		EventsAfter:                            {requeueAfter: EventsPeriod},
		119 * time.Second:                      {requeueAfter: time.Second},
		2 * time.Minute:                        {does: reported, requeueAfter: volcano.CommandPeriod},
		2*time.Minute + volcano.CommandPeriod:  {requeueAfter: EventsPeriod},
		10 * time.Minute:                       {does: reported, requeueAfter: volcano.CommandPeriod},
		10*time.Minute + volcano.CommandPeriod: {requeueAfter: EventsPeriod},
		60 * time.Minute:                       {does: reported, requeueAfter: volcano.CommandPeriod},
	} {
		plan := Decide(created(t, vcbatch.Pending, func(obs *observed.State) {
			obs.Now = seenAt
			obs.PodsMissingSince = seenAt.Add(-waited)
		}), config)
		plan.Missing = nil
		require.Equal(t, want, gistOf(plan), waited)
	}
	for waited, want := range map[time.Duration]gist{
		4 * time.Minute: {requeueAfter: EventsPeriod},
		5 * time.Minute: {does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing, requeueAfter: EventsPeriod},
	} {
		plan := Decide(created(t, "", func(obs *observed.State) {
			obs.Now = seenAt
			obs.PodsMissingSince = seenAt.Add(-waited)
		}), config)
		plan.Missing = nil
		require.Equal(t, want, gistOf(plan), "Volcano knows nothing of it, after %s", waited)
	}
	made := Decide(created(t, vcbatch.Pending), config)
	require.Zero(t, made.RequeueAfter)
}

func TestCleansPods(t *testing.T) {
	t.Parallel()
	for policy, want := range map[v1.CleanPodPolicy]struct{ completed, failed bool }{
		"":                   {completed: true},
		v1.CleanAlways:       {completed: true, failed: true},
		v1.CleanOnCompletion: {completed: true},
		v1.CleanOnFailure:    {failed: true},
		v1.CleanNever:        {},
		"OnComplete":         {},
		"always":             {},
	} {
		require.Equal(t, want.completed, cleansPods(policy, v1.Completed), "%q after success", policy)
		require.Equal(t, want.failed, cleansPods(policy, v1.Failed), "%q after failure", policy)
	}
}

func TestFinishedJob(t *testing.T) {
	t.Parallel()
	ended := func(phase v1.Phase, policy v1.CleanPodPolicy) change {
		return func(obs *observed.State) {
			obs.Job = obs.Job.DeepCopy()
			obs.Job.Status.Phase, obs.Job.Spec.CleanPodPolicy = phase, policy
		}
	}
	pods := with("worker", observed.Succeeded, observed.Terminating)
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"pods are cleaned":    {with: []change{noPodGroup, pods, ended(v1.Completed, "")}, want: gist{does: []string{"delete pod job-worker-0"}}},
		"pods are kept":       {with: []change{noPodGroup, pods, ended(v1.Completed, v1.CleanNever)}},
		"a leftover PodGroup": {with: []change{ended(v1.Failed, "")}, want: gist{does: []string{"delete PodGroup job-vc-uid"}}},
		"Volcano Job is gone": {with: []change{noPodGroup, func(obs *observed.State) { obs.VolcanoJob = nil }, ended(v1.Completed, "")}},
		"Volcano Job is leaving": {with: []change{noPodGroup, func(obs *observed.State) {
			obs.VolcanoJob.DeletionTimestamp = &metav1.Time{}
		}, ended(v1.Completed, "")}},
		"the spec was changed": {
			with: []change{noPodGroup, ended(v1.Completed, ""), editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })},
			want: gist{notSynced: ReasonSpecChangeNotApplied},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, vcbatch.Completed, tc.with...), config)))
		})
	}
}

func TestTakeover(t *testing.T) {
	t.Parallel()
	made := func(role string, states ...observed.PodState) change {
		return func(obs *observed.State) {
			for i, state := range states {
				obs.Operator.Pods = append(obs.Operator.Pods, podOf(role, i, state, obs.Job))
			}
		}
	}
	environment := func(obs *observed.State) {
		obs.Operator.Environment = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	}
	rest := func(obs *observed.State) {
		obs.Operator.PodGroup = &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
		obs.Operator.Services = []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "job-ps-0"}}}
	}
	over := func(phase v1.Phase) change { return func(obs *observed.State) { obs.Job.Status.Phase = phase } }
	recreated := func(does ...string) gist {
		return gist{does: does, waiting: ReasonTakingOver, requeueAfter: pollInterval}
	}
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"runs":                   {with: []change{made("ps", observed.Running), made("worker", observed.Running, observed.Running), environment, rest}},
		"starts, with addresses": {with: []change{made("ps", observed.Running), made("worker", observed.Starting, observed.Starting), environment}},
		"starts, without addresses": {
			with: []change{made("ps", observed.Running), made("worker", observed.Starting)},
			want: recreated("delete pod job-ps-0", "delete pod job-worker-0"),
		},
		"lacks a pod": {
			with: []change{made("ps", observed.Running), made("worker", observed.Running), environment},
			want: recreated("delete pod job-ps-0", "delete pod job-worker-0", "delete ConfigMap job"),
		},
		"has failed": {
			with: []change{made("ps", observed.Running), made("worker", observed.Failed, observed.Running), environment, rest},
			want: recreated("delete pod job-ps-0", "delete pod job-worker-0", "delete pod job-worker-1",
				"delete Service job-ps-0", "delete ConfigMap job", "delete PodGroup job"),
		},
		"is being cleared": {
			with: []change{made("ps", observed.Terminating), environment, func(obs *observed.State) { obs.Operator.Environment.DeletionTimestamp = &metav1.Time{} }},
			want: recreated(),
		},
		"left only its PodGroup": {
			with: []change{func(obs *observed.State) {
				obs.Operator.PodGroup = &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
			}},
			want: recreated("delete PodGroup job"),
		},
		"workers have succeeded": {with: []change{made("ps", observed.Running), made("worker", observed.Succeeded, observed.Succeeded)}},
		"is recorded as a success": {
			with: []change{made("ps", observed.Running), made("worker", observed.Succeeded, observed.Succeeded), environment, rest, over(v1.Completed)},
			want: gist{does: []string{
				"delete PodGroup job", "delete pod job-ps-0", "delete pod job-worker-0", "delete pod job-worker-1", "delete Service job-ps-0",
			}},
		},
		"is recorded as a failure": {
			with: []change{made("ps", observed.Running), made("worker", observed.Failed, observed.Succeeded), over(v1.Failed)},
			want: gist{does: []string{"delete pod job-ps-0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(submitted(tc.with...), config)))
		})
	}
}

func TestEventsAreReadOfPodsThatMayWaitForVolumes(t *testing.T) {
	t.Parallel()
	placed := func(ago time.Duration) change {
		return func(obs *observed.State) {
			obs.Now = seenAt
			obs.Job.Status.Conditions = append(obs.Job.Status.Conditions, metav1.Condition{
				Type: v1.ConditionScheduled, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(seenAt.Add(-ago)),
			})
		}
	}
	of := func(source corev1.VolumeSource) change {
		return func(obs *observed.State) {
			task := &obs.VolcanoJob.Spec.Tasks[len(obs.VolcanoJob.Spec.Tasks)-1] // the workers'
			task.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: source}}
		}
	}
	volumes := of(corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "token"}})
	starting := with(builder.RoleWorker, observed.Starting, observed.Starting)
	for name, tc := range map[string]struct {
		with []change
		want time.Duration
	}{
		"just placed":     {[]change{starting, volumes, placed(2 * time.Second)}, 3 * time.Second},
		"late":            {[]change{starting, volumes, placed(time.Minute)}, EventsPeriod},
		"without volumes": {[]change{starting, placed(time.Minute)}, 0},
		"a claim":         {[]change{starting, of(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}), placed(time.Minute)}, 0},
		"running":         {[]change{with(builder.RoleWorker, observed.Running, observed.Running), volumes, placed(time.Minute)}, 0},
	} {
		var plan Plan
		plan.events(created(t, vcbatch.Pending, tc.with...))
		require.Equal(t, tc.want, plan.RequeueAfter, name)
	}
}

// A gang of which Volcano has recreated one pod only is started again, unless Volcano does so first.
func TestRestartPartlyRecreated(t *testing.T) {
	t.Parallel()
	// survivor is a worker of the attempt before the present one, which began so long ago.
	survivor := func(ago time.Duration) change {
		return func(obs *observed.State) {
			obs.VolcanoJob.Status.State.LastTransitionTime = *before(ago)
			obs.Pods[len(obs.Pods)-1].Annotations[vcbatch.JobRetryCountKey] = "0"
		}
	}
	gang := []change{retries(1), with("ps", observed.Running), with("worker", observed.Running, observed.Running)}
	late := survivor(volcano.EvictionGracePeriod)
	for name, tc := range map[string]struct {
		phase        vcbatch.JobPhase
		with         []change
		does         []string
		requeueAfter time.Duration
	}{
		"all pods are of one attempt": {phase: vcbatch.Running},
		"Volcano may still act":       {phase: vcbatch.Running, with: []change{survivor(10 * time.Second)}, requeueAfter: 20 * time.Second},
		"Volcano has not acted":       {phase: vcbatch.Running, with: []change{late}, does: []string{"RestartJob"}, requeueAfter: volcano.CommandPeriod},
		"before all pods run":         {phase: vcbatch.Pending, with: []change{late}, does: []string{"RestartJob"}, requeueAfter: volcano.CommandPeriod},
		"Volcano restarts it":         {phase: vcbatch.Restarting, with: []change{survivor(10 * time.Second)}},
		"it has started again, seen late": {phase: vcbatch.Running, with: []change{late, func(obs *observed.State) {
			obs.Pods[0].Annotations[vcbatch.JobRetryCountKey] = "2"
		}}},
		"the workers have succeeded": {phase: vcbatch.Running, with: []change{late, func(obs *observed.State) {
			obs.Pods[0].Annotations[vcbatch.JobRetryCountKey] = "0"
			obs.Pods[1].Status.Phase, obs.Pods[2].Status.Phase = corev1.PodSucceeded, corev1.PodSucceeded
		}}},
		"a pod has failed": {phase: vcbatch.Running, with: []change{late, phase(v1.Restarting), func(obs *observed.State) {
			obs.Pods[0].Status.Phase = corev1.PodFailed
		}}, does: []string{"AbortJob"}, requeueAfter: volcano.CommandPeriod},
	} {
		obs := created(t, tc.phase, append(slices.Clone(gang), tc.with...)...)
		obs.Now = seenAt
		var plan Plan
		plan.abort(obs)
		plan.restartPartlyRecreated(obs)
		require.Equal(t, tc.does, done(plan), name)
		require.Equal(t, tc.requeueAfter, plan.RequeueAfter, name)
	}
}
