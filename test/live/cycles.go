// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"testing"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// cycleMetric counts the scheduling cycles that have ended.
const cycleMetric = "volcano_e2e_scheduling_latency_milliseconds_count"

// Cycles returns how many scheduling cycles the scheduler has ended since it started.
func (p *Plane) Cycles(ctx context.Context) (int, error) {
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

// UntilCycles waits until the scheduler has begun and ended so many more cycles.
func (p *Plane) UntilCycles(ctx context.Context, more int) error {
	start, err := p.Cycles(ctx)
	if err != nil {
		return err
	}
	return p.Until(ctx, fmt.Sprintf("%d scheduling cycles", more), func(ctx context.Context) error {
		now, err := p.Cycles(ctx)
		// The cycle that ran at the start does not count as whole.
		if err == nil && now <= start+more {
			err = fmt.Errorf("%d have ended", now-start)
		}
		return err
	})
}

// AwaitCycles is UntilCycles for a test.
func (p *Plane) AwaitCycles(t testing.TB, more int) {
	t.Helper()
	if err := p.UntilCycles(t.Context(), more); err != nil {
		t.Fatal(err)
	}
}
