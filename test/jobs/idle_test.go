// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// longestWait is longer than the controller puts off any write, which are those of texts.
const longestWait = 31 * time.Second

func TestIdleSyncsWriteNothing(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	idle := map[string]struct {
		with  []change
		phase v1.Phase
	}{
		"by-pod-ip":  {phase: v1.Running},
		"by-service": {with: []change{byService}, phase: v1.Running},
		"completed":  {with: []change{workersRunFor("1s")}, phase: v1.Completed},
		"below-the-minimum": {phase: v1.Running, with: []change{func(job *v1.PaddleJob) {
			job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{MinAvailable: ptr(int32(3))}
		}}},
		"suspended":        {with: []change{suspend(true)}, phase: v1.Suspended},
		"failed-too-often": {with: []change{backoff(0), workersRunFor("1s"), workersFail("1", "")}, phase: v1.Failed},
		"stalled":          {phase: v1.Pending, with: []change{queue("nowhere")}},
	}
	var jobs []*v1.PaddleJob
	for name, tc := range idle {
		jobs = append(jobs, create(t, psJob(space, name, tc.with...)))
	}
	for _, job := range jobs {
		awaitPhase(t, job, idle[job.Name].phase)
	}
	// What follows the change of phase, such as servers that stop and counts that are written later.
	var before map[string]string
	cluster.Await(t, "everything to settle", func(ctx context.Context) error {
		first, err := objects(ctx, space)
		if err != nil {
			return err
		}
		awaitResyncs(t, longestWait)
		if before, err = objects(ctx, space); err == nil && fmt.Sprint(first) != fmt.Sprint(before) {
			err = fmt.Errorf("%v became %v", first, before)
		}
		return err
	})
	awaitResyncs(t, 10*resync)
	after, err := objects(t.Context(), space)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// awaitResyncs waits until the controller has looked at all jobs again and again for some time. Syncs of other tests' jobs
// are counted too, so that the time counts as well.
func awaitResyncs(t *testing.T, least time.Duration) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < least; {
		awaitSyncs(t, 10)
	}
}

func ptr[T any](value T) *T { return &value }
