// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// Not parallel: the syncs that are counted must be this job's.
func TestIdleSyncsWriteNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		with  []change
		phase v1.Phase
	}{
		"running by pod ip":  {phase: v1.Running},
		"running by service": {with: []change{byService}, phase: v1.Running},
		"completed":          {with: []change{workersRunFor("1s")}, phase: v1.Completed},
		"below the minimum": {phase: v1.Running, with: []change{func(job *v1.PaddleJob) {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{MinAvailable: ptr(int32(3))}
		}}},
		"stalled": {phase: v1.Pending, with: []change{queue("nowhere")}},
	} {
		t.Run(name, func(t *testing.T) {
			job := create(t, psJob(namespace(t), "idle", tc.with...))
			awaitPhase(t, job, tc.phase)
			// What follows the change of phase, such as servers that stop and counts that are written later.
			var before map[string]string
			await(t, "everything to settle", func(ctx context.Context) error {
				first, err := objects(ctx, job.Namespace)
				if err != nil {
					return err
				}
				awaitSyncs(t, 10)
				if before, err = objects(ctx, job.Namespace); err == nil && fmt.Sprint(first) != fmt.Sprint(before) {
					err = fmt.Errorf("%v became %v", first, before)
				}
				return err
			})
			awaitSyncs(t, 20)
			after, err := objects(t.Context(), job.Namespace)
			require.NoError(t, err)
			require.Equal(t, before, after)
			require.NoError(t, cluster.paddle.BatchV1().PaddleJobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
		})
	}
}

func ptr[T any](value T) *T { return &value }
