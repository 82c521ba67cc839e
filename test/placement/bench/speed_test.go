// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// BenchmarkSpeed runs the cases of make bench-placement as Go benchmarks, for profiles: one job on a topology that knows
// its request, or all jobs in a row on a fresh one.
func BenchmarkSpeed(b *testing.B) {
	for _, c := range speedCases([]int{1, tenfold}) {
		b.Run(fmt.Sprintf("%s/%d nodes", c.name, c.fleet.nodes), func(b *testing.B) {
			fleet := instances.NewFleet(1, c.fleet.nodes, c.fleet.racks, c.fleet.blocks)
			t := fleet.Build()
			if c.jobs == 1 {
				err := c.plan(t)
				require.NoError(b, err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if c.jobs > 1 {
					b.StopTimer()
					t = fleet.Build()
					b.StartTimer()
				}
				err := c.plan(t)
				require.NoError(b, err)
			}
		})
	}
}

func TestCasesRunOnASmallFleet(t *testing.T) {
	c := job{name: "a row", fleet: scale{400, 20, 4}, jobs: 12, draw: speedCases([]int{1})[3].draw}
	rows, err := c.run(instances.NewFleet(1, c.fleet.nodes, c.fleet.racks, c.fleet.blocks))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, 12, rows[0].Jobs)
	require.Equal(t, 8, rows[0].Pods)
	require.Positive(t, rows[0].Sorts)

	c.jobs = 1
	rows, err = c.run(instances.NewFleet(1, c.fleet.nodes, c.fleet.racks, c.fleet.blocks))
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.False(t, rows[0].Warm)
	require.True(t, rows[1].Warm)
}

func TestAJobThatDoesNotFitTheFleetIsSaid(t *testing.T) {
	c := job{name: "too much", fleet: scale{4, 2, 1}, jobs: 1, draw: speedCases([]int{1})[1].draw}
	_, err := c.run(instances.NewFleet(1, 4, 2, 1))
	require.ErrorContains(t, err, "too much")
}
