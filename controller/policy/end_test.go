// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

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
		return func(v *view.View) {
			v.Job = v.Job.DeepCopy()
			v.Job.Status.Phase, v.Job.Spec.CleanPodPolicy = phase, policy
		}
	}
	pods := with("worker", view.Succeeded, view.Leaving)
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"pods are cleaned":    {with: []change{noPodGroup, pods, ended(v1.Completed, "")}, want: gist{does: []string{"delete pod job-worker-0"}}},
		"pods are kept":       {with: []change{noPodGroup, pods, ended(v1.Completed, v1.CleanNever)}},
		"a leftover PodGroup": {with: []change{ended(v1.Failed, "")}, want: gist{does: []string{"delete PodGroup job-vc-uid"}}},
		"Volcano Job is gone": {with: []change{noPodGroup, func(v *view.View) { v.VolcanoJob = nil }, ended(v1.Completed, "")}},
		"Volcano Job is leaving": {with: []change{noPodGroup, func(v *view.View) {
			v.VolcanoJob.DeletionTimestamp = &metav1.Time{}
		}, ended(v1.Completed, "")}},
		"the spec was changed": {
			with: []change{noPodGroup, ended(v1.Completed, ""), editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 9 })},
			want: gist{unapplied: ReasonSpecChangeNotApplied},
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
	made := func(role string, states ...view.State) change {
		return func(v *view.View) {
			for i, state := range states {
				v.Operator.Pods = append(v.Operator.Pods, podOf(role, i, state, v.Job))
			}
		}
	}
	environment := func(v *view.View) {
		v.Operator.Environment = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
	}
	rest := func(v *view.View) {
		v.Operator.PodGroup = &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
		v.Operator.Services = []*corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "job-ps-0"}}}
	}
	over := func(phase v1.Phase) change { return func(v *view.View) { v.Job.Status.Phase = phase } }
	anew := func(does ...string) gist { return gist{does: does, waiting: ReasonTakingOver, lookAgain: unwatched} }
	for name, tc := range map[string]struct {
		with []change
		want gist
	}{
		"runs":                   {with: []change{made("ps", view.Running), made("worker", view.Running, view.Running), environment, rest}},
		"starts, with addresses": {with: []change{made("ps", view.Running), made("worker", view.Starting, view.Starting), environment}},
		"starts, without addresses": {
			with: []change{made("ps", view.Running), made("worker", view.Starting)},
			want: anew("delete pod job-ps-0", "delete pod job-worker-0"),
		},
		"lacks a pod": {
			with: []change{made("ps", view.Running), made("worker", view.Running), environment},
			want: anew("delete pod job-ps-0", "delete pod job-worker-0", "delete ConfigMap job"),
		},
		"has failed": {
			with: []change{made("ps", view.Running), made("worker", view.Failed, view.Running), environment, rest},
			want: anew("delete pod job-ps-0", "delete pod job-worker-0", "delete pod job-worker-1",
				"delete Service job-ps-0", "delete ConfigMap job", "delete PodGroup job"),
		},
		"is being cleared": {
			with: []change{made("ps", view.Leaving), environment, func(v *view.View) { v.Operator.Environment.DeletionTimestamp = &metav1.Time{} }},
			want: anew(),
		},
		"left only its PodGroup": {
			with: []change{func(v *view.View) {
				v.Operator.PodGroup = &vcscheduling.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "job"}}
			}},
			want: anew("delete PodGroup job"),
		},
		"workers have succeeded": {with: []change{made("ps", view.Running), made("worker", view.Succeeded, view.Succeeded)}},
		"is recorded as a success": {
			with: []change{made("ps", view.Running), made("worker", view.Succeeded, view.Succeeded), environment, rest, over(v1.Completed)},
			want: gist{does: []string{
				"delete PodGroup job", "delete pod job-ps-0", "delete pod job-worker-0", "delete pod job-worker-1", "delete Service job-ps-0",
			}},
		},
		"is recorded as a failure": {
			with: []change{made("ps", view.Running), made("worker", view.Failed, view.Succeeded), over(v1.Failed)},
			want: gist{does: []string{"delete pod job-ps-0"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(submitted(tc.with...), config)))
		})
	}
}
