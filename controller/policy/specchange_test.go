// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestSpecChange(t *testing.T) {
	t.Parallel()
	more := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 3 })
	fewer := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 1 })
	bad := editSpec(func(s *v1.PaddleJobSpec) { s.Worker.Replicas = 0 })
	placed := []change{with("ps", view.Starting), with("worker", view.Starting, view.Starting)}
	lastRestart := func(v *view.View) { v.VolcanoJob.Status.RetryCount = v.VolcanoJob.Spec.MaxRetry }
	replaced := gist{does: []string{"delete Volcano Job job"}, waiting: ReasonReplacing}
	for name, tc := range map[string]struct {
		phase vcbatch.JobPhase
		with  []change
		want  gist
	}{
		"nothing placed":            {phase: vcbatch.Pending, with: []change{more}, want: replaced},
		"unplaced pods":             {phase: vcbatch.Pending, with: []change{with("ps", view.Unplaced), more}, want: replaced},
		"placed, without addresses": {phase: vcbatch.Pending, with: append(placed, more), want: replaced},
		"placed, with addresses": {
			phase: vcbatch.Pending, with: append(placed, environmentOf, more), want: gist{unapplied: ReasonSpecChangeNotApplied},
		},
		"running": {phase: vcbatch.Running, with: append(running, environmentOf, more), want: gist{unapplied: ReasonSpecChangeNotApplied}},
		"running, fewer": {
			phase: vcbatch.Running, with: append(running, environmentOf, fewer), want: gist{unapplied: ReasonSpecChangeNotApplied},
		},
		"running, addresses lost": {phase: vcbatch.Running, with: append(running, more), want: gist{unapplied: ReasonSpecChangeNotApplied}},
		"running, another intranet": {
			phase: vcbatch.Running, with: append(running, environmentOf, editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Service })),
			want: gist{unapplied: ReasonSpecChangeNotApplied},
		},
		"running, and cannot run": {phase: vcbatch.Running, with: append(running, environmentOf, bad), want: gist{unapplied: ReasonSpecChangeRefused}},
		"pending, and cannot run": {
			phase: vcbatch.Pending, with: []change{bad}, want: gist{unapplied: ReasonSpecChangeRefused},
		},
		"restarting": {
			phase: vcbatch.Restarting, with: append(running, environmentOf, more),
			want: gist{does: []string{"delete ConfigMap job", "delete Volcano Job job"}, waiting: ReasonReplacing},
		},
		"about to fail": {phase: vcbatch.Restarting, with: []change{lastRestart, more}},
		"completing":    {phase: vcbatch.Completing, with: []change{noPodGroup, more}},
		"gang restarted, addresses of the dead": {
			phase: vcbatch.Running,
			with:  append(placed, environmentOf, more, func(v *view.View) { v.Pods[0].UID = "new" }),
			want:  gist{does: []string{"delete ConfigMap job"}, unapplied: ReasonSpecChangeNotApplied},
		},
		"being deleted already": {
			phase: vcbatch.Pending, with: []change{more, func(v *view.View) { v.VolcanoJob.DeletionTimestamp = &metav1.Time{} }},
			want: gist{waiting: ReasonReplacing},
		},
		"cleanPodPolicy alone": {
			phase: vcbatch.Running, with: append(running, environmentOf, editSpec(func(s *v1.PaddleJobSpec) { s.CleanPodPolicy = v1.CleanAlways })),
		},
		"labels alone": {phase: vcbatch.Running, with: append(running, environmentOf, func(v *view.View) {
			v.Job.Labels = map[string]string{"team": "vision"}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, gistOf(Decide(created(t, tc.phase, tc.with...), config)))
		})
	}
}

// An upgrade of the controller is no change of the spec: neither is the job replaced, nor is a finished one run again.
func TestEarlierReleasesHashIsOfTheSameSpec(t *testing.T) {
	t.Parallel()
	const earlier = "5b7d7f25f055a86f"
	limit := runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr.To[int32](3) })
	upgraded := func(v *view.View) { v.VolcanoJob.Annotations[keys.SpecHash] = earlier }
	plan := Decide(created(t, vcbatch.Pending, limit, upgraded), config)
	require.Nil(t, plan.Waiting)
	require.Nil(t, plan.Unapplied)
	another := editSpec(func(s *v1.PaddleJobSpec) { s.Intranet = v1.Host })
	require.Equal(t, ReasonReplacing, Decide(created(t, vcbatch.Pending, limit, upgraded, another), config).Waiting.Reason)

	ended := func(v *view.View) { v.Job.Annotations = map[string]string{keys.FinalStatus: "Completed " + earlier} }
	require.Equal(t, v1.Completed, Decide(submitted(limit, ended), config).RestoredPhase)
	require.Empty(t, Decide(submitted(limit, ended, another), config).RestoredPhase)
}
