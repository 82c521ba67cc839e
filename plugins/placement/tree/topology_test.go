// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// treeSpec has two racks of one name, in two blocks, and a node whose places are not known.
//
//	cluster
//	├── (n9)
//	│   └── (n9): n9 (1 cpu, 2 gpu, 0 npu)
//	├── b1
//	│   └── r1: n1 (4, 8, 0)  n3 (-5, 1, 3)
//	└── b2
//	    └── r1: n2 (7, 0, 4)
func treeSpec() tree.Spec {
	return tree.Spec{
		Resources: []string{"cpu", "gpu", "npu"}, Accelerators: []string{"npu", "gpu"},
		Tiers: tree.DefaultTiers("rack", "block"),
		Nodes: []tree.NodeSpec{
			{Name: "n3", Domains: []string{"r1", "b1"}, Free: []int64{-5, 1, 3}},
			{Name: "n9", Domains: []string{"", ""}, Free: []int64{1, 2, 0}},
			{Name: "n2", Domains: []string{"r1", "b2"}, Free: []int64{7, 0, 4}},
			{Name: "n1", Domains: []string{"r1", "b1"}, Free: []int64{4, 8, 0}},
		},
	}
}

func built(t testing.TB, spec tree.Spec) *tree.Topology {
	t.Helper()
	topology, err := tree.New(spec)
	require.NoError(t, err)
	return topology
}

func TestDomainsFollowTheTree(t *testing.T) {
	topology := built(t, treeSpec())
	require.Equal(t, 4, topology.Nodes())
	require.Equal(t, []string{"cpu", "gpu", "npu"}, topology.Resources())
	require.Equal(t, tree.DefaultTiers("rack", "block"), topology.Tiers())
	type domain struct {
		path, local      string
		tier             int
		parent           tree.DomainID
		lo, hi           tree.NodeID
		childLo, childHi tree.DomainID
	}
	none := tree.NoDomain
	want := []domain{
		{"(n9)/(n9)/n9", "n9", 1, 4, 0, 1, none, none},
		{"b1/r1/n1", "n1", 1, 5, 1, 2, none, none},
		{"b1/r1/n3", "n3", 1, 5, 2, 3, none, none},
		{"b2/r1/n2", "n2", 1, 6, 3, 4, none, none},
		{"(n9)/(n9)", "(n9)", 2, 7, 0, 1, 0, 1},
		{"b1/r1", "r1", 2, 8, 1, 3, 1, 3},
		{"b2/r1", "r1", 2, 9, 3, 4, 3, 4},
		{"(n9)", "(n9)", 3, 10, 0, 1, 4, 5},
		{"b1", "b1", 3, 10, 1, 3, 5, 6},
		{"b2", "b2", 3, 10, 3, 4, 6, 7},
		{"cluster", "cluster", 4, none, 0, 4, 7, 10},
	}
	var is []domain
	for tier := tree.NodeTier; tier <= len(topology.Tiers()); tier++ {
		lo, hi := topology.Domains(tier)
		for d := lo; d < hi; d++ {
			own := domain{path: topology.DomainName(d), local: topology.LocalName(d), tier: tier, parent: topology.Parent(d)}
			own.lo, own.hi = topology.NodesOf(d)
			own.childLo, own.childHi = topology.Children(d)
			is = append(is, own)
			require.Equal(t, tier, topology.TierOf(d))
		}
	}
	require.Equal(t, want, is)
	require.EqualValues(t, 10, topology.Root())
}

func TestNodesAreFoundInTheirDomains(t *testing.T) {
	topology := built(t, treeSpec())
	node, ok := topology.Node("n3")
	require.True(t, ok)
	require.Equal(t, "n3", topology.NodeName(node))
	require.EqualValues(t, 2, topology.Ancestor(node, tree.NodeTier))
	require.EqualValues(t, 5, topology.Ancestor(node, tree.NodeTier+1))
	require.EqualValues(t, 8, topology.Ancestor(node, tree.NodeTier+2))
	require.Equal(t, topology.Root(), topology.Ancestor(node, tree.NodeTier+3))
	for d, holds := range map[tree.DomainID]bool{1: false, 2: true, 3: false, 4: false, 5: true, 6: false, 8: true, 9: false, 10: true} {
		require.Equal(t, holds, topology.Holds(d, node), topology.DomainName(d))
	}
	_, ok = topology.Node("n4")
	require.False(t, ok)
}

func TestWhatIsFreeSumsUp(t *testing.T) {
	topology := built(t, treeSpec())
	for _, c := range []struct {
		domain tree.DomainID
		free   []int64
		gpus   int64
	}{
		{2, []int64{-5, 1, 3}, 4},
		{5, []int64{4, 9, 3}, 12}, // what is below 0 counts as 0
		{9, []int64{7, 0, 4}, 4},
		{10, []int64{12, 11, 7}, 18},
	} {
		require.Equal(t, c.free, topology.Free(c.domain), topology.DomainName(c.domain))
		require.Equal(t, c.gpus, topology.FreeGPUs(c.domain))
	}
	require.EqualValues(t, 5, topology.GPUs([]int64{9, 2, 3}))
	require.EqualValues(t, 3, topology.GPUs([]int64{9, -2, 3}), "what is below 0 counts as 0")
}

func TestATopologyWithoutRacks(t *testing.T) {
	topology := built(t, tree.Spec{
		Resources: []string{"cpu"}, Tiers: tree.DefaultTiers(),
		Nodes: []tree.NodeSpec{{Name: "b", Free: []int64{1}}, {Name: "a", Free: []int64{2}}},
	})
	require.Equal(t, "a", topology.NodeName(0))
	require.EqualValues(t, 2, topology.Root())
	require.Equal(t, []int64{3}, topology.Free(topology.Root()))
	require.Zero(t, topology.FreeGPUs(topology.Root()), "without accelerators there are none")
}

func TestATopologyKeepsNothingOfItsSpec(t *testing.T) {
	spec := treeSpec()
	topology := built(t, spec)
	spec.Resources[0], spec.Tiers[0].Name, spec.Nodes[0].Name, spec.Nodes[0].Free[1] = "x", "x", "x", 99
	require.Equal(t, "cpu", topology.Resources()[0])
	require.Equal(t, "island", topology.Tiers()[0].Name)
	require.Equal(t, "n3", topology.NodeName(2))
	require.Equal(t, []int64{-5, 1, 3}, topology.Free(2))
}

func TestBandwidths(t *testing.T) {
	spec := treeSpec()
	spec.Tiers[tree.NodeTier].Bandwidth, spec.Tiers[tree.NodeTier+2].Bandwidth = 10, 40
	topology := built(t, spec)
	for d, want := range map[tree.DomainID]float64{1: 10, 2: 10, 5: 1, 6: 1, 8: 40, 9: 40, 10: 1} {
		require.InDelta(t, want, topology.Bandwidth(d), 0, topology.DomainName(d))
	}
}

func TestDefaultTiers(t *testing.T) {
	require.Equal(t, []tree.Tier{
		{Name: "island", Weight: 0.25}, {Name: "node", Weight: 1}, {Name: "rack", Weight: 4}, {Name: "block", Weight: 16},
	}, tree.DefaultTiers("rack", "block"))
}
