// SPDX-License-Identifier: Apache-2.0

package manifests_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cycleMetric counts one observation for each scheduling cycle that has ended.
const cycleMetric = "volcano_e2e_scheduling_latency_milliseconds_count"

// cycles is how many scheduling cycles the scheduler has ended since it started.
func (p *plane) cycles(ctx context.Context) (int, error) {
	values, err := p.Metrics(ctx, sandbox.Scheduler)
	if err != nil {
		return 0, err
	}
	count, found := values[cycleMetric]
	if !found {
		return 0, fmt.Errorf("the scheduler has no metric %s", cycleMetric)
	}
	return int(count), nil
}

// awaitCycles waits until the scheduler has begun and ended so many more cycles.
func (p *plane) awaitCycles(t *testing.T, more int) {
	t.Helper()
	start, err := p.cycles(t.Context())
	require.NoError(t, err)
	p.Await(t, fmt.Sprintf("%d scheduling cycles", more), func(ctx context.Context) error {
		now, err := p.cycles(ctx)
		if err != nil {
			return err
		}
		// The one that ran at the start does not count as whole.
		if now <= start+more {
			return fmt.Errorf("%d have ended", now-start)
		}
		return nil
	})
}
