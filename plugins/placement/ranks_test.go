// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOrderAlongTheTree orders nodes of this tree, two in a rack and four in a block:
//
//	b0             b1             b2
//	├── r0: 0 1    ├── r2: 4 5    └── r4: 8 9
//	└── r1: 2 3    └── r3: 6 7
func TestOrderAlongTheTree(test *testing.T) {
	t := gpuTree(test, make([]int64, 10)...)
	one := func(nodes ...NodeID) (stops []stop) {
		for _, n := range nodes {
			stops = append(stops, stop{n, 1})
		}
		return stops
	}
	for _, c := range []struct {
		name        string
		left, right NodeID
		stops       []stop
		want        []NodeID
	}{
		{"from the first to the last", -1, -1, one(0, 1, 3, 6, 9), []NodeID{0, 1, 3, 6, 9}},
		{"from the node of the member before", 5, -1, one(0, 2, 4, 5, 6, 8), []NodeID{5, 4, 6, 0, 2, 8}},
		{"from its rack, if the node has none", 5, -1, one(0, 4, 6), []NodeID{4, 6, 0}},
		{"to the node of the member after", -1, 2, one(0, 2, 3, 4, 8), []NodeID{4, 8, 0, 3, 2}},
		{"from one block to another", 6, 0, one(0, 1, 4, 6, 7, 8), []NodeID{6, 7, 4, 8, 1, 0}},
		{"there and back within a block", 4, 6, one(0, 4, 5, 6, 7, 8), []NodeID{4, 5, 0, 8, 7, 6}},
		{"there and back within a rack", 4, 5, one(0, 4, 5, 6), []NodeID{4, 6, 0, 5}},
		{"there and back to one node", 5, 5, one(0, 4, 5, 6), []NodeID{5, 4, 6, 0}},
		{"nothing", 5, 5, nil, []NodeID{}},
	} {
		test.Run(c.name, func(test *testing.T) {
			l := line{t: t, stops: c.stops, group: 1}
			order := []NodeID{}
			for _, s := range l.order(c.left, c.right) {
				order = append(order, s.node)
			}
			require.Equal(test, c.want, order)
		})
	}
}

func TestOrderKeepsParallelGroupsWhole(test *testing.T) {
	t := gpuTree(test, make([]int64, 10)...)
	for _, c := range []struct {
		name  string
		at    int64
		stops []stop
		want  []NodeID
	}{
		// 3 and 1 make a group of 4, so do the 4 of r1 alone; r2 would leave one over.
		{"racks that end a group first", 0, []stop{{0, 3}, {1, 2}, {2, 1}, {3, 3}, {4, 4}}, []NodeID{4, 2, 3, 0, 1}},
		{"nodes that end a group first", 0, []stop{{0, 3}, {1, 4}}, []NodeID{1, 0}},
		{"the ring begins inside a group", 1, []stop{{0, 4}, {1, 3}}, []NodeID{1, 0}},
		{"else in the order of the tree", 0, []stop{{0, 3}, {1, 2}}, []NodeID{0, 1}},
	} {
		test.Run(c.name, func(test *testing.T) {
			l := line{t: t, stops: c.stops, group: 4, at: c.at}
			var order []NodeID
			for _, s := range l.order(-1, -1) {
				order = append(order, s.node)
			}
			require.Equal(test, c.want, order)
		})
	}
}

// ringOf so many workers of one GPU each, of which some run: by index, their nodes.
func ringOf(members int, runs map[int]NodeID) *Demand {
	role := Role{Name: "worker", Traffic: Worker, Request: []int64{1}, Minimum: members}
	for i := range members {
		if node, ok := runs[i]; ok {
			role.Placed = append(role.Placed, Placed{i, node})
		} else {
			role.Pending = append(role.Pending, i)
		}
	}
	return &Demand{Pattern: Collective, Roles: []Role{role}}
}

func TestRanksFollowTheTree(test *testing.T) {
	for _, c := range []struct {
		name  string
		free  []int64
		runs  map[int]NodeID
		total int
		want  []NodeID // of all pending members
	}{
		{"in the order of indexes", []int64{2, 1, 2, 1, 1}, nil, 7, []NodeID{0, 0, 1, 2, 2, 3, 4}},
		// The pending members between 0 and 3 begin at node 4 and end at node 0.
		{"between two that run", []int64{1, 0, 0, 0, 1}, map[int]NodeID{0: 4, 3: 0}, 4, []NodeID{4, 0}},
		{"two gaps", []int64{1, 0, 0, 0, 1}, map[int]NodeID{0: 4, 2: 0, 3: 0}, 5, []NodeID{0, 4}},
		// After the last comes the first: members 2 and 3 lead from node 4 back to node 0.
		{"over the end of the ring", []int64{1, 0, 0, 0, 1}, map[int]NodeID{0: 0, 1: 4}, 4, []NodeID{4, 0}},
	} {
		for _, noExact := range []bool{false, true} {
			t := gpuTree(test, c.free...)
			plan, err := Solve(t, ringOf(c.total, c.runs), Options{noExact: noExact})
			require.NoError(test, err)
			var nodes []NodeID
			for _, a := range plan.Assignments {
				nodes = append(nodes, a.Node)
			}
			require.Equal(test, c.want, nodes, "%s, without exact search: %v", c.name, noExact)
		}
	}
}

func TestTwoRolesInOneGap(test *testing.T) {
	t := gpuTree(test, make([]int64, 10)...)
	role := func(name string, pending []int, placed ...Placed) Role {
		return Role{Name: name, Traffic: Worker, Request: []int64{1}, Pending: pending, Placed: placed}
	}
	for _, c := range []struct {
		name   string
		roles  []Role
		nodes  []NodeID
		counts []int32 // of either role on each node
		want   []NodeID
	}{
		// The second role goes on where the first ended (node 4), and ends where that began (node 0).
		{"a whole ring", []Role{role("a", []int{0, 1}), role("b", []int{0, 1})},
			[]NodeID{0, 1, 4, 5}, []int32{1, 0, 0, 1, 1, 0, 0, 1}, []NodeID{0, 4, 5, 1}},
		// A gap from node 4 to node 0.
		{"between members that run", []Role{role("a", []int{1}, Placed{0, 4}), role("b", []int{0, 1}, Placed{2, 0})},
			[]NodeID{1, 3, 5}, []int32{0, 1, 0, 1, 1, 0}, []NodeID{5, 3, 1}},
	} {
		b, _ := boardOf(t, &Demand{Pattern: Collective, Roles: c.roles}, Options{})
		var nodes []NodeID
		for _, a := range b.p.assign(c.nodes, c.counts) {
			nodes = append(nodes, a.Node)
		}
		require.Equal(test, c.want, nodes, c.name)
		b.close()
	}
}
