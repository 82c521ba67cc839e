// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

func TestCasesRunOnASmallFleet(t *testing.T) {
	c := job{name: "a row", fleet: scale{400, 20, 4}, jobs: 12, draw: speedCases([]int{1})[2].draw}
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
