// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// All pods of a gang have failed before Volcano looked at the first, so that it has failed the Job without a restart.
func TestAgain(t *testing.T) {
	t.Parallel()
	failed := with("worker", view.Failed, view.Failed)
	noted := func(restarts int32) change {
		return statusOf(func(s *v1.PaddleJobStatus) { s.Phase, s.Restarts = v1.Restarting, restarts })
	}
	had := func(failures int32) change { return statusOf(func(s *v1.PaddleJobStatus) { s.Failures = failures }) }
	retried := func(count int32) change { return func(v *view.View) { v.VolcanoJob.Status.RetryCount = count } }
	earlier := func(v *view.View) { v.VolcanoJob.Annotations[keys.EarlierRestarts] = "2" }
	environment := func(v *view.View) { v.Environment = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "job"}} }
	leaving := func(v *view.View) { v.VolcanoJob.DeletionTimestamp = &metav1.Time{} }
	type outcome struct {
		does      []string
		again     bool
		retrying  bool
		failed    string
		lookAgain time.Duration
	}
	outcomeOf := func(v *view.View) outcome {
		plan := Decide(v, config)
		o := outcome{does: done(plan), again: plan.Again, retrying: plan.Retrying != nil, lookAgain: plan.LookAgain}
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
		"it is written down first": {want: outcome{again: true, retrying: true}},
		"it is written down":       {with: []change{noted(1)}, want: starts},
		"with its environment": {with: []change{noted(1), environment},
			want: outcome{does: []string{"delete ConfigMap job", "delete Volcano Job job"}, retrying: true}},
		"it is on its way out":                      {with: []change{noted(1), leaving}, want: outcome{retrying: true}},
		"after a restart of Volcano's":              {with: []change{retried(1), noted(1)}, want: outcome{again: true, retrying: true}},
		"and noted":                                 {with: []change{retried(1), noted(2)}, want: starts},
		"Volcano has restarted it enough":           {with: []change{retried(3), noted(2), func(v *view.View) { v.VolcanoJob.Spec.MaxRetry = 3 }}},
		"evictions under earlier ones do not count": {with: []change{earlier, noted(2)}, want: outcome{again: true, retrying: true}},
		"it has ended":                              {with: []change{statusOf(func(s *v1.PaddleJobStatus) { s.Phase = v1.Failed }), noPodGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, outcomeOf(created(t, vcbatch.Failed, append([]change{failed}, tc.with...)...)))
		})
	}
	t.Run("with a limit of the user's", func(t *testing.T) {
		t.Parallel()
		require.Equal(t, outcome{again: true, retrying: true}, outcomeOf(stopped(t, vcbatch.Failed, 2, 0, 0, failed)))
		require.Equal(t, outcome{retrying: true, lookAgain: 6 * time.Second}, outcomeOf(stopped(t, vcbatch.Failed, 2, 1, 4*time.Second, failed, noted(2), had(2))))
		require.Equal(t, starts, outcomeOf(stopped(t, vcbatch.Failed, 2, 1, 10*time.Second, failed, noted(2), had(2))))
		require.Equal(t, outcome{failed: ReasonBackoffLimitExceeded}, outcomeOf(stopped(t, vcbatch.Failed, 2, 2, 0, failed, had(2))))
		require.Equal(t, outcome{failed: ReasonBackoffLimitExceeded}, outcomeOf(stopped(t, vcbatch.Failed, 0, 0, 0, failed)))
		code := func(v *view.View) { v.Job.Spec.RunPolicy.PermanentExitCodes = []int32{42} }
		require.Equal(t, outcome{failed: ReasonPermanentExitCode}, outcomeOf(stopped(t, vcbatch.Failed, 2, 0, 0, exits(42), code)))
	})
	t.Run("suspended meanwhile", func(t *testing.T) {
		t.Parallel()
		v := stopped(t, vcbatch.Failed, 2, 1, 4*time.Second, failed, runs(func(run *v1.RunPolicy) { yes := true; run.Suspend = &yes }))
		plan := Decide(v, config)
		require.NotNil(t, plan.Suspended)
		require.Equal(t, []string{"delete Volcano Job job"}, done(plan))
	})
}
