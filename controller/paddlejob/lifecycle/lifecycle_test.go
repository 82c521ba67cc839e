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
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/paddlejob/observed"
	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
)

var seenAt = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *metav1.Time { return &metav1.Time{Time: seenAt.Add(-d)} }

// runs gives an observed state's job a run policy, and a time to the observed state.
func runs(edit func(*v1.RunPolicy)) change {
	return func(obs *observed.State) {
		obs.Now, obs.Job = seenAt, obs.Job.DeepCopy()
		if obs.Job.Spec.RunPolicy == nil {
			obs.Job.Spec.RunPolicy = &v1.RunPolicy{}
		}
		edit(obs.Job.Spec.RunPolicy)
	}
}

func statusOf(edit func(*v1.PaddleJobStatus)) change {
	return func(obs *observed.State) {
		obs.Job = obs.Job.DeepCopy()
		edit(&obs.Job.Status)
	}
}

func suspending(run *v1.RunPolicy) { run.Suspend = ptr.To(true) }

func TestSuspend(t *testing.T) {
	t.Parallel()
	running := with("worker", observed.Running, observed.Running)
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		with      []change
		does      []string
		suspended string
	}{
		"a job that runs": {phase: vcbatch.Running, with: []change{running, environmentOf, runs(suspending)},
			does: []string{"delete ConfigMap job", "delete Volcano Job job"}, suspended: ReasonSuspending},
		"its pods are on their way out": {phase: vcbatch.Running, with: []change{running, runs(suspending), func(obs *observed.State) {
			obs.VolcanoJob.DeletionTimestamp = before(0)
		}}, suspended: ReasonSuspending},
		"its pods outlive the Volcano Job": {with: []change{runs(suspending), func(obs *observed.State) {
			obs.VolcanoJob, obs.Predecessors = nil, []*corev1.Pod{podOf("worker", 0, observed.Terminating, nil)}
		}}, suspended: ReasonSuspending},
		"nothing is left":    {with: []change{runs(suspending), func(obs *observed.State) { obs.VolcanoJob = nil }}, suspended: ReasonSuspended},
		"the end is certain": {phase: vcbatch.Completing, with: []change{runs(suspending)}},
		"suspend is false":   {phase: vcbatch.Completing, with: []change{runs(func(run *v1.RunPolicy) { run.Suspend = ptr.To(false) })}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(created(t, tc.phase, tc.with...), config)
			require.Equal(t, tc.does, done(plan))
			if tc.suspended == "" {
				require.Nil(t, plan.Suspended)
				return
			}
			require.Equal(t, tc.suspended, plan.Suspended.Reason)
		})
	}
	left := submitted(runs(suspending), func(obs *observed.State) {
		obs.Operator.Pods = []*corev1.Pod{podOf("worker", 0, observed.Running, obs.Job)}
	})
	require.Equal(t, []string{"delete pod job-worker-0"}, done(Decide(left, config)), "paddle-operator's too")
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	deadline := func(obs *observed.State) {
		runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr.To[int64](100) })(obs)
	}
	createdBefore := func(d time.Duration) change {
		return func(obs *observed.State) { obs.Job.CreationTimestamp = *before(d) }
	}
	suspended := func(now metav1.ConditionStatus, since time.Duration) change {
		return statusOf(func(s *v1.PaddleJobStatus) {
			s.Conditions = []metav1.Condition{{Type: v1.ConditionSuspended, Status: now, LastTransitionTime: *before(since)}}
		})
	}
	for name, tc := range map[string]struct {
		phase        vcbatch.JobPhase
		with         []change
		failed       bool
		requeueAfter time.Duration
	}{
		"in time":  {phase: vcbatch.Running, with: []change{createdBefore(40 * time.Second)}, requeueAfter: time.Minute},
		"too late": {phase: vcbatch.Running, with: []change{createdBefore(100 * time.Second)}, failed: true},
		"too late, and has run for a while only": {phase: vcbatch.Running, with: []change{createdBefore(100 * time.Second),
			statusOf(func(s *v1.PaddleJobStatus) { s.StartTime = before(time.Second) })}, failed: true},
		"too late, and never whole": {phase: vcbatch.Pending, with: []change{createdBefore(100 * time.Second),
			with("worker", observed.Running, observed.Starting)}, failed: true},
		"too late, and in the queue": {with: []change{createdBefore(100 * time.Second)}, failed: true},
		"too late, without a Volcano Job": {with: []change{createdBefore(100 * time.Second), func(obs *observed.State) {
			obs.VolcanoJob = nil
		}}, failed: true},
		"about to end": {phase: vcbatch.Completing, with: []change{createdBefore(time.Hour)}},
		"was suspended": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionFalse, 90*time.Second)},
			requeueAfter: 10 * time.Second},
		"too late since its resumption": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionFalse, 100*time.Second)},
			failed: true},
		"was suspended until now": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionTrue, 50*time.Minute)},
			requeueAfter: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(created(t, tc.phase, append([]change{deadline}, tc.with...)...), config)
			require.Equal(t, tc.requeueAfter, plan.RequeueAfter)
			require.Equal(t, tc.failed, plan.Failed != nil)
			if tc.failed {
				require.Equal(t, ReasonDeadlineExceeded, plan.Failed.Reason)
				require.Empty(t, plan.Actions, "it is written down first")
			}
		})
	}
}

func TestFinishedJobIsStopped(t *testing.T) {
	t.Parallel()
	ended := statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Failed })
	clean := func(obs *observed.State) { obs.Job.Spec.CleanPodPolicy = v1.CleanAlways }
	for phase, want := range map[vcbatch.JobPhase]gist{
		"":                  {does: []string{"TerminateJob"}, requeueAfter: volcano.CommandPeriod},
		vcbatch.Pending:     {does: []string{"TerminateJob"}, requeueAfter: volcano.CommandPeriod},
		vcbatch.Running:     {does: []string{"TerminateJob"}, requeueAfter: volcano.CommandPeriod},
		vcbatch.Restarting:  {},
		vcbatch.Aborting:    {},
		vcbatch.Terminating: {},
		vcbatch.Aborted:     {does: []string{"delete PodGroup job-vc-uid", "delete pod job-worker-0"}},
		vcbatch.Terminated:  {does: []string{"delete PodGroup job-vc-uid", "delete pod job-worker-0"}},
	} {
		require.Equal(t, want, gistOf(Decide(created(t, phase, with("worker", observed.Failed), ended, clean), config)), "%s", phase)
	}
}

func TestExpire(t *testing.T) {
	t.Parallel()
	ttl := runs(func(run *v1.RunPolicy) { run.TTLSecondsAfterFinished = ptr.To[int32](60) })
	endedBefore := func(d time.Duration) change {
		return statusOf(func(s *v1.PaddleJobStatus) { s.Phase, s.CompletionTime = v1.Completed, before(d) })
	}
	decide := func(with ...change) gist {
		return gistOf(Decide(created(t, vcbatch.Completed, append([]change{noPodGroup, ttl}, with...)...), config))
	}
	require.Equal(t, gist{requeueAfter: 20 * time.Second}, decide(endedBefore(40*time.Second)))
	require.Equal(t, gist{does: []string{"delete PaddleJob job"}}, decide(endedBefore(time.Minute)))
	require.Equal(t, gist{}, decide(statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Completed })), "the end time is not known")
	require.Equal(t, gist{}, decide(endedBefore(time.Minute), runs(func(run *v1.RunPolicy) { run.TTLSecondsAfterFinished = nil })))
}

// wantsWorkers makes the job elastic, with 2 to 8 workers.
func wantsWorkers(replicas int32) change {
	return editSpec(func(s *v1.PaddleJobSpec) {
		s.PS, s.Elastic, s.ElasticPolicy = nil, ptr.To[int32](1), &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
		s.Worker = s.Worker.DeepCopy()
		s.Worker.Replicas, s.Worker.Requests, s.Worker.Limits = replicas, ptr.To[int32](2), ptr.To[int32](8)
	})
}

func TestScale(t *testing.T) {
	t.Parallel()
	made := func(with ...change) Plan {
		obs := submitted(wantsWorkers(4))
		obs.VolcanoJob = volcanoJobOf(t, Decide(obs, config)).DeepCopy()
		obs.VolcanoJob.UID, obs.VolcanoJob.Status.State.Phase = "vc-uid", vcbatch.Running
		for _, c := range with {
			c(obs)
		}
		return Decide(obs, config)
	}
	scaled := func(plan Plan) *vcbatch.Job {
		for _, a := range plan.Actions {
			if s, ok := a.(ScaleVolcanoJob); ok {
				return s.Job
			}
		}
		return nil
	}
	require.Nil(t, scaled(made()))
	require.EqualValues(t, 8, scaled(made(wantsWorkers(8))).Spec.Tasks[0].Replicas)
	fewer := scaled(made(wantsWorkers(2)))
	require.EqualValues(t, 2, fewer.Spec.Tasks[0].Replicas)
	require.EqualValues(t, 2, fewer.Spec.MinAvailable)
	require.NotEmpty(t, fewer.Annotations[v1.SpecHashAnnotation])
	over := made(wantsWorkers(9), with("worker", observed.Running, observed.Running))
	require.Nil(t, scaled(over))
	require.Equal(t, ReasonSpecChangeRefused, over.SpecNotSynced.Reason)
	require.Nil(t, scaled(made(wantsWorkers(8), func(obs *observed.State) { obs.VolcanoJob.Status.State.Phase = vcbatch.Completing })))
	require.Nil(t, scaled(made(wantsWorkers(8), with("worker", observed.Succeeded, observed.Succeeded))), "training has succeeded")
}

// finalStatus gives a job the annotation that it would have after its end.
func finalStatus(phase string) change {
	return func(obs *observed.State) {
		obs.Job.Annotations = map[string]string{v1.FinalStatusAnnotation: phase + " " + builder.SpecHash(obs.Job)}
	}
}

// tell gives a status a phase, and the conditions that say the same.
func tell(s *v1.PaddleJobStatus, is v1.Phase) {
	s.Phase = is
	for _, kind := range map[v1.Phase][]string{
		v1.Starting: {v1.ConditionScheduled}, v1.Running: {v1.ConditionScheduled, v1.ConditionRunning}, v1.Suspended: {v1.ConditionSuspended},
		v1.Completed: {v1.ConditionSucceeded}, v1.Failed: {v1.ConditionFailed},
	}[is] {
		condition(kind, true, "Reported", "")(s)
	}
	switch is {
	case v1.Pending:
		condition(v1.ConditionScheduled, false, reasonPlacing, "")(s)
	case v1.Restarting:
		condition(v1.ConditionAdmitted, false, reasonRestarting, "")(s)
	}
	for i := range s.Conditions {
		s.Conditions[i].LastTransitionTime = metav1.NewTime(now)
	}
}

func phase(is v1.Phase) change { return func(obs *observed.State) { tell(&obs.Job.Status, is) } }

func TestFinalStatusIsNoted(t *testing.T) {
	t.Parallel()
	zero := int32(0)
	for name, tc := range map[string]struct {
		with []change
		want string
	}{
		"completed":     {with: []change{phase(v1.Completed)}, want: "Completed"},
		"failed":        {with: []change{phase(v1.Failed)}, want: "Failed"},
		"noted":         {with: []change{phase(v1.Failed), finalStatus("Failed")}},
		"of another":    {with: []change{phase(v1.Failed), finalStatus("Completed")}, want: "Failed"},
		"running":       {with: []change{phase(v1.Running)}},
		"being deleted": {with: []change{phase(v1.Completed), func(obs *observed.State) { obs.Job.DeletionTimestamp = &metav1.Time{} }}},
		"the spec was changed after the end": {with: []change{phase(v1.Completed), finalStatus("Completed"),
			editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })}, want: "Completed"},
		"Kubeflow's": {with: []change{phase(v1.Completed), func(obs *observed.State) {
			obs.Job.OwnerReferences = []metav1.OwnerReference{{UID: "other", Controller: new(bool)}}
			*obs.Job.OwnerReferences[0].Controller = true
		}}},
		"its time is over": {with: []change{phase(v1.Completed), func(obs *observed.State) {
			obs.Job.Spec.RunPolicy = &v1.RunPolicy{TTLSecondsAfterFinished: &zero}
			obs.Job.Status.CompletionTime = &metav1.Time{Time: obs.Now}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := submitted(tc.with...)
			got := ""
			for _, action := range Decide(obs, config).Actions {
				if note, ok := action.(NoteFinalStatus); ok {
					got = note.Value
				}
			}
			if tc.want != "" {
				tc.want += " " + builder.SpecHash(obs.Job)
			}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestFinishedJobThatIsRestoredDoesNotRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
		want v1.Phase
	}{
		"completed": {with: []change{finalStatus("Completed")}, want: v1.Completed},
		"failed":    {with: []change{finalStatus("Failed")}, want: v1.Failed},
		"failed and suspended": {with: []change{editSpec(func(s *v1.PaddleJobSpec) {
			suspend := true
			s.RunPolicy = &v1.RunPolicy{Suspend: &suspend}
		}), finalStatus("Failed")}, want: v1.Failed},
		"no end":                {with: []change{finalStatus("Running")}},
		"nothing":               {with: []change{finalStatus("")}},
		"a copy that is edited": {with: []change{finalStatus("Completed"), editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })}},
		"a status is there":     {with: []change{finalStatus("Completed"), phase(v1.Running)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := submitted(tc.with...)
			plan := Decide(obs, config)
			require.Equal(t, tc.want, plan.RestoredPhase)
			if tc.want == "" {
				require.Contains(t, done(plan), "create Volcano Job job")
				return
			}
			require.Empty(t, plan.Actions)
		})
	}
}

func TestStatusOfARestoredJob(t *testing.T) {
	t.Parallel()
	absent := seen("")
	absent.VolcanoJob, absent.PodGroup = nil, nil
	for end, want := range map[v1.Phase]map[string]string{
		v1.Completed: {"Stalled": "False Proceeding", "Running": "False Completed", "Succeeded": "True Restored"},
		v1.Failed:    {"Stalled": "False Proceeding", "Running": "False Failed", "Failed": "True Restored"},
	} {
		status := at(0, absent, Plan{RestoredPhase: end})
		require.Equal(t, end, status.Phase)
		require.Equal(t, want, conditionsOf(status))
		require.Nil(t, status.StartTime)
		require.Equal(t, &metav1.Time{Time: now}, status.CompletionTime)
		kind := map[v1.Phase]string{v1.Completed: v1.ConditionSucceeded, v1.Failed: v1.ConditionFailed}[end]
		message := meta.FindStatusCondition(status.Conditions, kind).Message
		require.Contains(t, message, "create it without the annotation "+v1.FinalStatusAnnotation)
		events := Events(&v1.PaddleJobStatus{}, status, nil)
		require.Len(t, events, 1)
		require.Equal(t, message, events[0].Message)
	}
}

// paddle-operator deleted one pod per reconcile.
func TestPodsAreCleanedAtOnce(t *testing.T) {
	t.Parallel()
	for phase, ended := range map[v1.Phase]vcbatch.JobPhase{v1.Completed: vcbatch.Completed, v1.Failed: vcbatch.Failed} {
		obs := created(t, ended, noPodGroup, with("worker", observed.Succeeded, observed.Failed, observed.Succeeded),
			statusOf(func(s *v1.PaddleJobStatus) { s.Phase = phase }), editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = v1.CleanAlways }))
		require.Equal(t, []string{"delete pod job-worker-0", "delete pod job-worker-1", "delete pod job-worker-2"}, done(Decide(obs, config)), phase)
	}
}
