// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func TestQueuesPlaceSomeAndNotAll(t *testing.T) {
	q, err := MeasureQueues(Settings{Seed: 1, Clusters: 1}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, jobsPerQueue, q.Jobs)
	for _, placed := range []int{q.StockPlaced, q.OursPlaced} {
		require.Greater(t, placed, 3)
		require.Less(t, placed, jobsPerQueue)
	}
	require.Zero(t, q.StockPassedOver)
	require.Empty(t, q.PassedOver)
}

// The second job fits beside the first and is not there: it was passed over. The third does not fit beside the first.
func TestAJobIsPassedOverIfItHadRoomAtItsTurn(t *testing.T) {
	fleet := cluster.Shape{Nodes: 2, PerRack: 2, RacksPerBlock: 1, Capacity: machine}.Fleet()
	jobs := []cluster.Job{cluster.Ring("first", 6, ranks(1)), cluster.Ring("second", 10, ranks(1)), cluster.Ring("third", 11, ranks(1))}
	bound := map[string]string{}
	for i := range 6 {
		bound[jobs[0].PodName(cluster.WorkerTask, i)] = fleet[i%2].Name
	}
	left := slices.Clone(fleet)
	occupy(left, &jobs[0], bound)
	require.Equal(t, cluster.Amounts{CPU: 128 - 36, Memory: 1024 - 192, GPU: 10}, left.Free())
	require.Equal(t, int64(16), fleet.Free().GPU, "the fleet itself is not touched")
	require.True(t, hasRoom(left, &jobs[1]))
	require.False(t, hasRoom(left, &jobs[2]))
}
