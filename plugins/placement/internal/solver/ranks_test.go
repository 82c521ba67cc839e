// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// TestOrderAlongTheTree orders nodes of this tree, two in a rack and four in a block:
//
//	b0             b1             b2
//	├── r0: 0 1    ├── r2: 4 5    └── r4: 8 9
//	└── r1: 2 3    └── r3: 6 7
func TestOrderAlongTheTree(test *testing.T) {
	t := placementtest.GPUTree(test, make([]int64, 10)...)
	one := func(nodes ...tree.NodeID) (shares []nodeShare) {
		for _, n := range nodes {
			shares = append(shares, nodeShare{n, 1})
		}
		return shares
	}
	for _, c := range []struct {
		name        string
		left, right tree.NodeID
		shares      []nodeShare
		want        []tree.NodeID
	}{
		{"from the first to the last", -1, -1, one(0, 1, 3, 6, 9), []tree.NodeID{0, 1, 3, 6, 9}},
		{"from the node of the member before", 5, -1, one(0, 2, 4, 5, 6, 8), []tree.NodeID{5, 4, 6, 0, 2, 8}},
		{"from its rack, if the node has none", 5, -1, one(0, 4, 6), []tree.NodeID{4, 6, 0}},
		{"to the node of the member after", -1, 2, one(0, 2, 3, 4, 8), []tree.NodeID{4, 8, 0, 3, 2}},
		{"from one block to another", 6, 0, one(0, 1, 4, 6, 7, 8), []tree.NodeID{6, 7, 4, 8, 1, 0}},
		{"there and back within a block", 4, 6, one(0, 4, 5, 6, 7, 8), []tree.NodeID{4, 5, 0, 8, 7, 6}},
		{"there and back within a rack", 4, 5, one(0, 4, 5, 6), []tree.NodeID{4, 6, 0, 5}},
		{"there and back to one node", 5, 5, one(0, 4, 5, 6), []tree.NodeID{5, 4, 6, 0}},
		{"nothing", 5, 5, nil, []tree.NodeID{}},
	} {
		test.Run(c.name, func(test *testing.T) {
			l := treeOrder{t: t, shares: c.shares, group: 1}
			order := []tree.NodeID{}
			for _, s := range l.order(c.left, c.right) {
				order = append(order, s.node)
			}
			require.Equal(test, c.want, order)
		})
	}
}

func TestOrderKeepsParallelGroupsWhole(test *testing.T) {
	t := placementtest.GPUTree(test, make([]int64, 10)...)
	for _, c := range []struct {
		name   string
		at     int64
		shares []nodeShare
		want   []tree.NodeID
	}{
		// 3 and 1 make a group of 4, so do the 4 of r1 alone; r2 would leave one over.
		{"racks that end a group first", 0, []nodeShare{{0, 3}, {1, 2}, {2, 1}, {3, 3}, {4, 4}}, []tree.NodeID{4, 2, 3, 0, 1}},
		{"nodes that end a group first", 0, []nodeShare{{0, 3}, {1, 4}}, []tree.NodeID{1, 0}},
		{"the ring begins inside a group", 1, []nodeShare{{0, 4}, {1, 3}}, []tree.NodeID{1, 0}},
		{"else in the order of the tree", 0, []nodeShare{{0, 3}, {1, 2}}, []tree.NodeID{0, 1}},
	} {
		test.Run(c.name, func(test *testing.T) {
			l := treeOrder{t: t, shares: c.shares, group: 4, at: c.at}
			var order []tree.NodeID
			for _, s := range l.order(-1, -1) {
				order = append(order, s.node)
			}
			require.Equal(test, c.want, order)
		})
	}
}

func TestRanksFollowTheTree(test *testing.T) {
	for _, c := range []struct {
		name  string
		free  []int64
		runs  map[int]tree.NodeID
		total int
		want  []tree.NodeID // of all pending members
	}{
		{"in the order of indexes", []int64{2, 1, 2, 1, 1}, nil, 7, []tree.NodeID{0, 0, 1, 2, 2, 3, 4}},
		// The pending members between 0 and 3 begin at node 4 and end at node 0.
		{"between two that run", []int64{1, 0, 0, 0, 1}, map[int]tree.NodeID{0: 4, 3: 0}, 4, []tree.NodeID{4, 0}},
		{"two gaps", []int64{1, 0, 0, 0, 1}, map[int]tree.NodeID{0: 4, 2: 0, 3: 0}, 5, []tree.NodeID{0, 4}},
		// After the last comes the first: members 2 and 3 lead from node 4 back to node 0.
		{"over the end of the ring", []int64{1, 0, 0, 0, 1}, map[int]tree.NodeID{0: 0, 1: 4}, 4, []tree.NodeID{4, 0}},
	} {
		for _, noExact := range []bool{false, true} {
			t := placementtest.GPUTree(test, c.free...)
			plan, err := Solve(t, placementtest.RingOf(c.total, c.runs), Options{noExact: noExact})
			require.NoError(test, err)
			var nodes []tree.NodeID
			for _, a := range plan.Assignments {
				nodes = append(nodes, a.Node)
			}
			require.Equal(test, c.want, nodes, "%s, without exact search: %v", c.name, noExact)
		}
	}
}

func TestTwoRolesInOneGap(test *testing.T) {
	t := placementtest.GPUTree(test, make([]int64, 10)...)
	role := func(name string, pending []int, placed ...gang.Placed) gang.Role {
		return gang.Role{Name: name, CommRole: gang.Worker, Request: []int64{1}, Pending: pending, Placed: placed}
	}
	for _, c := range []struct {
		name   string
		roles  []gang.Role
		nodes  []tree.NodeID
		counts []int32 // of either role on each node
		want   []tree.NodeID
	}{
		// The second role goes on where the first ended (node 4), and ends where that began (node 0).
		{"a whole ring", []gang.Role{role("a", []int{0, 1}), role("b", []int{0, 1})},
			[]tree.NodeID{0, 1, 4, 5}, []int32{1, 0, 0, 1, 1, 0, 0, 1}, []tree.NodeID{0, 4, 5, 1}},
		// A gap from node 4 to node 0.
		{"between members that run", []gang.Role{role("a", []int{1}, gang.Placed{Index: 0, Node: 4}), role("b", []int{0, 1}, gang.Placed{Index: 2, Node: 0})},
			[]tree.NodeID{1, 3, 5}, []int32{0, 1, 0, 1, 1, 0}, []tree.NodeID{5, 3, 1}},
	} {
		b, _ := assignmentOf(t, &gang.Demand{Pattern: gang.Collective, Roles: c.roles}, Options{})
		var nodes []tree.NodeID
		for _, a := range b.p.assign(c.nodes, c.counts) {
			nodes = append(nodes, a.Node)
		}
		require.Equal(test, c.want, nodes, c.name)
		b.close()
	}
}

// TestRanksOfHybridParallelism: four pods of a GPU on a node, two nodes in a rack. Pipeline ranks, which exchange least, are apart.
func TestRanksOfHybridParallelism(test *testing.T) {
	t := placementtest.GPUTree(test, 4, 4, 4, 4)
	d := placementtest.RingOf(16, nil)
	d.Parallelism = gang.Parallelism{Tensor: 2, Pipeline: 4} // and 2 for data, 8 ranks apart
	for _, noExact := range []bool{false, true} {
		plan, err := Solve(t, d, Options{noExact: noExact})
		require.NoError(test, err)
		for i, a := range plan.Assignments[:8] {
			require.Equal(test, plan.Assignments[i/2*2].Node, a.Node, "tensor parallel ranks")
			require.Equal(test, a.Node, plan.Assignments[i+8].Node, "data parallel ranks")
		}
		// Both edges of each of 4 pipelines leave a rack at either of 2 ends; a unit is a part of the model, by the weight of data.
		require.InDelta(test, 4*2*2/4./(2*4), plan.Cost.Tiers[tree.NodeTier+1].Bytes, 1e-9)
	}
}
