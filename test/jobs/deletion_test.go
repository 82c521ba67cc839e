// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with    []change
		phase   v1.Phase
		options metav1.DeleteOptions
	}{
		"while it runs":     {phase: v1.Running},
		"with names":        {phase: v1.Running, with: []change{byService}},
		"while it waits":    {phase: v1.Pending, with: []change{onNodes("none.has/this")}},
		"after success":     {phase: v1.Completed, with: []change{workersRunFor("1s")}},
		"in the foreground": {phase: v1.Running, options: metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationForeground)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			job := create(t, psJob(space, "gone", tc.with...))
			awaitJob(t, job, "created and "+string(tc.phase), func(job *v1.PaddleJob) bool {
				return job.Status.Phase == tc.phase && len(job.Status.Conditions) > 0
			})
			require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(space).Delete(t.Context(), job.Name, tc.options))
			awaitEmpty(t, space)
		})
	}
}

func TestRecreatedAtOnceUnderTheSameName(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "phoenix"))
	awaitPhase(t, job, v1.Running)
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
	again := create(t, psJob(job.Namespace, job.Name, workersRunFor("2s"), workers(3)))
	require.NotEqual(t, job.UID, again.UID)
	done := awaitPhase(t, again, v1.Completed)
	require.EqualValues(t, 3, done.Status.Worker.Succeeded)
	require.Zero(t, done.Status.Restarts)
}
