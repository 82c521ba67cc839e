// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

var seenAt = time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *metav1.Time { return &metav1.Time{Time: seenAt.Add(-d)} }

// runs gives a view's job a run policy, and a time to the view.
func runs(edit func(*v1.RunPolicy)) change {
	return func(v *view.View) {
		v.Now, v.Job = seenAt, v.Job.DeepCopy()
		if v.Job.Spec.RunPolicy == nil {
			v.Job.Spec.RunPolicy = &v1.RunPolicy{}
		}
		edit(v.Job.Spec.RunPolicy)
	}
}

func statusOf(edit func(*v1.PaddleJobStatus)) change {
	return func(v *view.View) {
		v.Job = v.Job.DeepCopy()
		edit(&v.Job.Status)
	}
}

func suspending(run *v1.RunPolicy) { run.Suspend = ptr.To(true) }

func TestSuspend(t *testing.T) {
	t.Parallel()
	running := with("worker", view.Running, view.Running)
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		with      []change
		does      []string
		suspended string
	}{
		"a job that runs": {phase: vcbatch.Running, with: []change{running, environmentOf, runs(suspending)},
			does: []string{"delete ConfigMap job", "delete Volcano Job job"}, suspended: ReasonSuspending},
		"its pods are on their way out": {phase: vcbatch.Running, with: []change{running, runs(suspending), func(v *view.View) {
			v.VolcanoJob.DeletionTimestamp = before(0)
		}}, suspended: ReasonSuspending},
		"its pods outlive the Volcano Job": {with: []change{runs(suspending), func(v *view.View) {
			v.VolcanoJob, v.Predecessors = nil, []*corev1.Pod{podOf("worker", 0, view.Leaving, nil)}
		}}, suspended: ReasonSuspending},
		"nothing is left":    {with: []change{runs(suspending), func(v *view.View) { v.VolcanoJob = nil }}, suspended: ReasonSuspended},
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
	left := submitted(runs(suspending), func(v *view.View) { v.Operator.Pods = []*corev1.Pod{podOf("worker", 0, view.Running, v.Job)} })
	require.Equal(t, []string{"delete pod job-worker-0"}, done(Decide(left, config)), "paddle-operator's too")
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	deadline := func(v *view.View) {
		runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr.To[int64](100) })(v)
	}
	createdBefore := func(d time.Duration) change {
		return func(v *view.View) { v.Job.CreationTimestamp = *before(d) }
	}
	suspended := func(now metav1.ConditionStatus, since time.Duration) change {
		return statusOf(func(s *v1.PaddleJobStatus) {
			s.Conditions = []metav1.Condition{{Type: v1.ConditionSuspended, Status: now, LastTransitionTime: *before(since)}}
		})
	}
	for name, tc := range map[string]struct {
		phase     vcbatch.JobPhase
		with      []change
		failed    bool
		lookAgain time.Duration
	}{
		"in time":  {phase: vcbatch.Running, with: []change{createdBefore(40 * time.Second)}, lookAgain: time.Minute},
		"too late": {phase: vcbatch.Running, with: []change{createdBefore(100 * time.Second)}, failed: true},
		"too late, and has run for a while only": {phase: vcbatch.Running, with: []change{createdBefore(100 * time.Second),
			statusOf(func(s *v1.PaddleJobStatus) { s.StartTime = before(time.Second) })}, failed: true},
		"too late, and never whole": {phase: vcbatch.Pending, with: []change{createdBefore(100 * time.Second),
			with("worker", view.Running, view.Starting)}, failed: true},
		"too late, and in the queue": {with: []change{createdBefore(100 * time.Second)}, failed: true},
		"too late, without a Volcano Job": {with: []change{createdBefore(100 * time.Second), func(v *view.View) {
			v.VolcanoJob = nil
		}}, failed: true},
		"about to end": {phase: vcbatch.Completing, with: []change{createdBefore(time.Hour)}},
		"was suspended": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionFalse, 90*time.Second)},
			lookAgain: 10 * time.Second},
		"too late since its resumption": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionFalse, 100*time.Second)},
			failed: true},
		"was suspended until now": {phase: vcbatch.Running, with: []change{createdBefore(time.Hour), suspended(metav1.ConditionTrue, 50*time.Minute)},
			lookAgain: 100 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := Decide(created(t, tc.phase, append([]change{deadline}, tc.with...)...), config)
			require.Equal(t, tc.lookAgain, plan.LookAgain)
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
	clean := func(v *view.View) { v.Job.Spec.CleanPodPolicy = v1.CleanAlways }
	for phase, want := range map[vcbatch.JobPhase]gist{
		"":                  {does: []string{"TerminateJob"}, lookAgain: CommandPeriod},
		vcbatch.Pending:     {does: []string{"TerminateJob"}, lookAgain: CommandPeriod},
		vcbatch.Running:     {does: []string{"TerminateJob"}, lookAgain: CommandPeriod},
		vcbatch.Restarting:  {},
		vcbatch.Aborting:    {},
		vcbatch.Terminating: {},
		vcbatch.Aborted:     {does: []string{"delete PodGroup job-vc-uid", "delete pod job-worker-0"}},
		vcbatch.Terminated:  {does: []string{"delete PodGroup job-vc-uid", "delete pod job-worker-0"}},
	} {
		require.Equal(t, want, gistOf(Decide(created(t, phase, with("worker", view.Failed), ended, clean), config)), "%s", phase)
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
	require.Equal(t, gist{lookAgain: 20 * time.Second}, decide(endedBefore(40*time.Second)))
	require.Equal(t, gist{does: []string{"delete PaddleJob job"}}, decide(endedBefore(time.Minute)))
	require.Equal(t, gist{}, decide(statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Completed })), "nobody knows when it ended")
	require.Equal(t, gist{}, decide(endedBefore(time.Minute), runs(func(run *v1.RunPolicy) { run.TTLSecondsAfterFinished = nil })))
}

// wantsWorkers makes the job elastic, with 2 to 8 workers.
func wantsWorkers(replicas int) change {
	return editSpec(func(s *v1.PaddleJobSpec) {
		s.PS, s.Elastic, s.ElasticPolicy = nil, ptr.To(1), &v1.ElasticPolicy{Etcd: "10.0.0.1:2379"}
		s.Worker = s.Worker.DeepCopy()
		s.Worker.Replicas, s.Worker.Requests, s.Worker.Limits = replicas, ptr.To(2), ptr.To(8)
	})
}

func TestScale(t *testing.T) {
	t.Parallel()
	made := func(with ...change) Plan {
		v := submitted(wantsWorkers(4))
		v.VolcanoJob = volcanoJobOf(t, Decide(v, config)).DeepCopy()
		v.VolcanoJob.UID, v.VolcanoJob.Status.State.Phase = "vc-uid", vcbatch.Running
		for _, c := range with {
			c(v)
		}
		return Decide(v, config)
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
	require.NotEmpty(t, fewer.Annotations[keys.SpecHash])
	over := made(wantsWorkers(9), with("worker", view.Running, view.Running))
	require.Nil(t, scaled(over))
	require.Equal(t, ReasonSpecChangeRefused, over.Unapplied.Reason)
	require.Nil(t, scaled(made(wantsWorkers(8), func(v *view.View) { v.VolcanoJob.Status.State.Phase = vcbatch.Completing })))
	require.Nil(t, scaled(made(wantsWorkers(8), with("worker", view.Succeeded, view.Succeeded))), "training has succeeded")
}
