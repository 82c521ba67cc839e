// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// usageCluster has free cpu and GPUs as written, the GPUs of n1 in two islands.
//
//	cluster
//	├── r1: n1 (8 cpu, 1 + 3 GPUs of 4 + 4)  n2 (-2, 2)
//	└── r2: n3 (4, 0)
func usageCluster(t testing.TB) *tree.Topology {
	return built(t, tree.Spec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack"),
		Nodes: []tree.NodeSpec{
			{Name: "n1", Domains: []string{"r1"}, Free: []int64{8, 4}, Islands: []tree.Island{{Size: 4, Free: 1}, {Size: 4, Free: 3}}},
			{Name: "n2", Domains: []string{"r1"}, Free: []int64{-2, 2}},
			{Name: "n3", Domains: []string{"r2"}, Free: []int64{4, 0}},
		},
	})
}

// everything that is free, by domain, and the islands of n1.
func everything(topology *tree.Topology) (free [][]int64, islands []tree.Island) {
	for d := range topology.Root() + 1 {
		free = append(free, append([]int64(nil), topology.Free(d)...))
	}
	return free, topology.Islands(0)
}

func islandsOf(free ...int) (islands []tree.Island) {
	for _, n := range free {
		islands = append(islands, tree.Island{Size: 4, Free: n})
	}
	return islands
}

// give sets what is free as it was before a claim.
func give(t *testing.T, topology *tree.Topology, claim tree.Claim) {
	t.Helper()
	free, islands := slices.Clone(topology.Free(tree.DomainID(claim.Node))), topology.Islands(claim.Node)
	for r, amount := range claim.Amounts {
		free[r] += amount
	}
	for _, i := range claim.Islands {
		islands[i].Free++
	}
	require.NoError(t, topology.SetFree(claim.Node, free, islands))
}

func TestTakeAndGive(t *testing.T) {
	topology := usageCluster(t)
	free, islands := everything(topology)

	request := []int64{3, 2}
	claim, err := topology.Take(0, request)
	require.NoError(t, err)
	request[0] = 99
	require.Equal(t, tree.Claim{Node: 0, Amounts: []int64{3, 2}, Islands: []uint8{1, 1}}, claim)
	require.Equal(t, []int64{5, 2}, topology.Free(0))
	require.Equal(t, []int64{5, 4}, topology.Free(3))
	require.Equal(t, []int64{9, 4}, topology.Free(5))
	require.Equal(t, islandsOf(1, 1), topology.Islands(0))

	give(t, topology, claim)
	is, isIslands := everything(topology)
	require.Equal(t, free, is)
	require.Equal(t, islands, isIslands)
}

func TestTakeFromANodeThatIsOneIsland(t *testing.T) {
	topology := usageCluster(t)
	claim, err := topology.Take(1, []int64{0, 2})
	require.NoError(t, err, "negative free amounts satisfy an empty request")
	require.Equal(t, tree.Claim{Node: 1, Amounts: []int64{0, 2}}, claim)
	require.Equal(t, []int64{-2, 0}, topology.Free(1))
	require.Equal(t, []int64{8, 4}, topology.Free(3))
	give(t, topology, claim)
	require.Equal(t, []int64{-2, 2}, topology.Free(1))
	require.Equal(t, []int64{8, 6}, topology.Free(3))
}

func TestTakeRefuses(t *testing.T) {
	for want, request := range map[string][]int64{
		"claim node n1: 1 amounts, want one for each of the 2 resources": {1},
		"claim node n1: 9 cpu requested, 8 free":                         {9, 0},
		"claim node n1: 5 gpu requested, 4 free":                         {1, 5},
		"claim node n1: -1 cpu requested, 8 free":                        {-1, 0},
	} {
		topology := usageCluster(t)
		free, islands := everything(topology)
		_, err := topology.Take(0, request)
		require.ErrorContains(t, err, want)
		is, isIslands := everything(topology)
		require.Equal(t, free, is)
		require.Equal(t, islands, isIslands)
	}
}

func TestSetFree(t *testing.T) {
	topology := usageCluster(t)
	require.NoError(t, topology.SetFree(0, []int64{1, 6}, []tree.Island{{Size: 8, Free: 4}, {Size: 2, Free: 2}}))
	require.Equal(t, []int64{1, 6}, topology.Free(0))
	require.Equal(t, []int64{1, 8}, topology.Free(3))
	require.Equal(t, []int64{5, 8}, topology.Free(5))
	require.Equal(t, []tree.Island{{Size: 8, Free: 4}, {Size: 2, Free: 2}}, topology.Islands(0))
	// What is below 0 counts as 0 further up, before and after.
	require.NoError(t, topology.SetFree(1, []int64{3, -1}, nil))
	require.Equal(t, []int64{4, 6}, topology.Free(3))
	require.NoError(t, topology.SetFree(1, []int64{-3, 2}, nil))
	require.Equal(t, []int64{1, 8}, topology.Free(3))
}

func TestSetFreeRefuses(t *testing.T) {
	for _, c := range []struct {
		free    []int64
		islands []tree.Island
		want    string
	}{
		{[]int64{1}, islandsOf(1, 3), "set what is free on node n1: 1 amounts, want one for each"},
		{[]int64{math.MaxInt64, 4}, islandsOf(1, 3), "amount 9223372036854775807 is out of range"},
		{[]int64{1, 4}, islandsOf(4), "set what is free on node n1: 1 islands, want 2 as before"},
		{[]int64{1, 4}, nil, "set what is free on node n1: 0 islands, want 2 as before"},
		{[]int64{1, 5}, islandsOf(1, 3), "set what is free on node n1: 4 GPUs are free in its islands, and 5 in all"},
	} {
		topology := usageCluster(t)
		free, islands := everything(topology)
		require.ErrorContains(t, topology.SetFree(0, c.free, c.islands), c.want)
		is, isIslands := everything(topology)
		require.Equal(t, free, is)
		require.Equal(t, islands, isIslands)
	}
}

func TestChangesAreUndone(t *testing.T) {
	topology := usageCluster(t)
	_, err := topology.Take(2, []int64{1, 0})
	require.NoError(t, err)
	free, islands := everything(topology)

	outer := topology.Begin()
	_, err = topology.Take(0, []int64{1, 1})
	require.NoError(t, err)
	between, betweenIslands := everything(topology)

	inner := topology.Begin()
	require.NoError(t, topology.SetFree(0, []int64{2, 3}, []tree.Island{{Size: 2, Free: 2}, {Size: 1, Free: 1}}))
	claim, err := topology.Take(0, []int64{1, 2})
	require.NoError(t, err)
	give(t, topology, claim)
	topology.Rollback(inner)
	is, isIslands := everything(topology)
	require.Equal(t, between, is)
	require.Equal(t, betweenIslands, isIslands)

	topology.Rollback(outer)
	is, isIslands = everything(topology)
	require.Equal(t, free, is)
	require.Equal(t, islands, isIslands)
}
