// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// TestGroupedStart puts groups of four on nodes of racks of two: r0 is n00 and n01, r1 is n02 and n03, and so on.
func TestGroupedStart(test *testing.T) {
	for _, c := range []struct {
		name    string
		free    []int64
		members int
		runs    map[int]tree.NodeID
		change  func(t *tree.Topology, d *gang.Demand)
		want    []tree.NodeID // of pending members; nil if not everybody finds capacity
	}{
		{"each group on the tightest node that holds it", []int64{9, 3, 5, 4}, 8, nil, nil, []tree.NodeID{3, 3, 3, 3, 2, 2, 2, 2}},
		{"of nodes that hold it, the nearest one", []int64{4, 6, 5, 0}, 8, nil, nil, []tree.NodeID{0, 0, 0, 0, 1, 1, 1, 1}},
		{"no node holds it: the roomiest first, then those near it", []int64{1, 3, 2, 0, 2}, 4, nil, nil, []tree.NodeID{1, 1, 1, 0}},
		{"the last group is smaller", []int64{4, 0, 2}, 6, nil, nil, []tree.NodeID{0, 0, 0, 0, 2, 2}},
		// Members 4 to 7 begin where the fifth one runs; the first four go next to it.
		{"groups with members that run come first", []int64{5, 4, 3, 6}, 8, map[int]tree.NodeID{4: 2}, nil, []tree.NodeID{3, 3, 3, 3, 2, 2, 2}},
		{"not everybody has room", []int64{3, 3}, 8, nil, nil, nil},
		{"an eligible node", []int64{4, 5}, 4, nil, func(t *tree.Topology, d *gang.Demand) {
			d.Roles[0].Eligible = tree.NewNodeSet(t)
			d.Roles[0].Eligible.Add(1)
		}, []tree.NodeID{1, 1, 1, 1}},
	} {
		test.Run(c.name, func(test *testing.T) {
			t := placementtest.GPUTree(test, c.free...)
			d := placementtest.RingOf(c.members, c.runs)
			d.GroupSize = 4
			if c.change != nil {
				c.change(t, d)
			}
			b, _ := assignmentOf(t, d, Options{})
			defer b.close()
			var all []tree.NodeID
			var plan []gang.Assignment
			for n := range tree.NodeID(t.Nodes()) {
				all = append(all, n)
			}
			for _, index := range d.Roles[0].Pending {
				plan = append(plan, gang.Assignment{Index: index, Node: all[len(all)-1]})
			}
			grouped, ok := b.p.groupRing(all, plan)
			require.Equal(test, c.want != nil, ok)
			var nodes []tree.NodeID
			for _, a := range grouped {
				nodes = append(nodes, a.Node)
			}
			require.Equal(test, c.want, nodes)
		})
	}
}

func TestGroupedStartKeepsEachRoleWhereItIsEligible(test *testing.T) {
	//	r0: n00 (4 GPUs, for the first role), n01 (4)
	t := placementtest.GPUTree(test, 4, 4)
	second := tree.NewNodeSet(t)
	second.Add(1)
	d := &gang.Demand{Pattern: gang.Collective, GroupSize: 4, Roles: []gang.Role{
		{Name: "a", CommRole: gang.Worker, Request: []int64{1}, Pending: []int{0, 1}, Minimum: 2},
		{Name: "b", CommRole: gang.Worker, Request: []int64{1}, Pending: []int{0, 1}, Minimum: 2, Eligible: second},
	}}
	b, _ := assignmentOf(t, d, Options{})
	defer b.close()
	plan := []gang.Assignment{{Role: 0, Index: 0, Node: 0}, {Role: 0, Index: 1, Node: 0}, {Role: 1, Index: 0, Node: 1}, {Role: 1, Index: 1, Node: 1}}
	grouped, ok := b.p.groupRing([]tree.NodeID{0, 1}, plan)
	require.True(test, ok)
	for _, a := range grouped[2:] {
		require.EqualValues(test, 1, a.Node)
	}
}
