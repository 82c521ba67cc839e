// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// n1: islands of 4 GPUs, 1 and 3 of them free. n2: one island.
func islandTopology(t *testing.T) *tree.Topology {
	topology, err := tree.New(tree.Spec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers(),
		Nodes: []tree.NodeSpec{
			{Name: "n1", Free: []int64{4}, Islands: []tree.Island{{Size: 4, Free: 1}, {Size: 4, Free: 3}}},
			{Name: "n2", Free: []int64{8}, Islands: []tree.Island{{Size: 8, Free: 8}}},
		},
	})
	require.NoError(t, err)
	return topology
}

func TestIslands(t *testing.T) {
	topology := islandTopology(t)
	islands := topology.Islands(0)
	require.Equal(t, []tree.Island{{Size: 4, Free: 1}, {Size: 4, Free: 3}}, islands)
	require.Nil(t, topology.Islands(1))

	islands[0].Free = 0
	require.Equal(t, 1, topology.Islands(0)[0].Free, "the caller has a copy")
}

func TestPickIslandsIsWhatTakeDoes(t *testing.T) {
	for gpus := range 5 {
		topology := islandTopology(t)
		islands := topology.Islands(0)
		picked := tree.PickIslands(islands, gpus)

		claim, err := topology.Take(0, []int64{int64(gpus)})
		require.NoError(t, err)
		require.Len(t, picked, gpus)
		for i, island := range claim.Islands {
			require.Equal(t, int(island), picked[i])
		}
		require.Equal(t, topology.Islands(0), islands)
	}
}

func TestPickIslandsStopsAtWhatIsFree(t *testing.T) {
	islands := islandTopology(t).Islands(0)
	require.Len(t, tree.PickIslands(islands, 9), 4)
	require.Empty(t, tree.PickIslands(islands, 1))
	require.Empty(t, tree.PickIslands(nil, 1))
}
