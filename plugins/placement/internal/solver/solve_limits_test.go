// SPDX-License-Identifier: Apache-2.0

package solver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

func TestSolveKeepsLimits(t *testing.T) {
	//	b1
	//	├── r1: n1 (16 cpu, 8 GPUs)  n2 (16, 4)
	//	└── r2: n3 (16, 8)           n4 (16, 8)
	//	b2
	//	└── r3: n5 (4, 3)            n6 (16, 8)
	nodes := []string{"b1/r1/n1 16 8", "b1/r1/n2 16 4", "b1/r2/n3 16 8", "b1/r2/n4 16 8", "b2/r3/n5 4 3", "b2/r3/n6 16 8"}
	type (
		topo   = *placement.Topology
		demand = *placement.Demand
	)
	within := func(tier int) func(topo, demand) { return func(_ topo, d demand) { d.HighestTier = tier } }
	required := func(tier int) func(topo, demand) {
		return func(_ topo, d demand) { d.Colocation, d.ColocationTier = placement.Required, tier }
	}
	for _, c := range []solveCase{
		{name: "one node is not enough", pattern: ring, roles: []string{"worker 9 1 1"}, change: within(placement.NodeTier)},
		{name: "one node is enough", pattern: ring, roles: []string{"worker 8 1 1"}, change: within(placement.NodeTier), want: []string{"n6: worker 8"}},
		{name: "one rack is not enough", pattern: ring, roles: []string{"worker 17 0 1"}, change: within(rackTier)},
		{name: "one rack is enough", pattern: ring, roles: []string{"worker 16 0 1"}, change: within(rackTier),
			want: []string{"n3: worker 8", "n4: worker 8"}, priced: 4 * 15.0 / 16 * 1.25},
		// Alone, the pods would go one to n1 and one to n6.
		{name: "members that do not talk stay in one rack too", pattern: placement.Single, roles: []string{"worker 2 1 8"}, change: within(rackTier),
			want: []string{"n3: worker 1", "n4: worker 1"}},
		// All in n5's rack; alone, they would go to r2.
		{name: "one rack is that of the members that run", pattern: ring, roles: []string{"worker 4 1 2"},
			change: func(topology topo, d demand) {
				d.HighestTier = rackTier
				d.Roles[0] = placementtest.Running(t, topology, d.Roles[0], "n5")
			}, want: []string{"n6: worker 3"}, priced: 4 * 7.0 / 8 * 1.25},
		{name: "members run in two racks", pattern: ring, roles: []string{"worker 4 1 1"},
			change: func(topology topo, d demand) {
				d.HighestTier = rackTier
				d.Roles[0] = placementtest.Running(t, topology, d.Roles[0], "n1", "n3")
			}},

		// 2 servers of 8 cpu, and 12 workers of 1 cpu: n1 takes a server and 8 workers, n2 a server and 4.
		// X = 2 (12 - (8 + 4)/2) = 12.
		{name: "a server on each node", pattern: ps, roles: []string{"ps 2 8 0", "worker 12 1 1"},
			change: required(0), want: []string{"n1: ps 1, worker 8", "n2: ps 1, worker 4"}, priced: 12},
		{name: "a server for each of three nodes, and there are two", pattern: ps, roles: []string{"ps 2 1 0", "worker 17 0 1"}, change: required(0)},
		// Both servers beside the 8 workers: X = 2 (12 - 8) = 8.
		{name: "a server in the rack is enough", pattern: ps, roles: []string{"ps 2 4 0", "worker 12 1 1"},
			change: required(rackTier), want: []string{"n1: ps 2, worker 8", "n2: worker 4"}, priced: 8},
		{name: "a server that runs counts", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 1 1"},
			change: func(topology topo, d demand) {
				required(0)(topology, d)
				d.Roles[0] = placementtest.Running(t, topology, d.Roles[0], "n4")
			}, want: []string{"n4: worker 2"}},
		{name: "a server that runs where there is no capacity", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 9 1"},
			change: func(topology topo, d demand) {
				required(0)(topology, d)
				d.Roles[0] = placementtest.Running(t, topology, d.Roles[0], "n4")
			}},
		// One worker runs where no server may go; it stays, and the other one has the server.
		{name: "a worker that runs without a server", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 1 1"},
			change: func(topology topo, d demand) {
				required(0)(topology, d)
				d.Roles[0].Eligible = setOf(t, topology, "n4")
				d.Roles[1] = placementtest.Running(t, topology, d.Roles[1], "n1")
			}, want: []string{"n4: ps 1, worker 1"}, priced: 2 + 2*4},
		{name: "what is preferred is not required", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 9 1"},
			change: func(topology topo, d demand) { d.Roles[0] = placementtest.Running(t, topology, d.Roles[0], "n4") },
			want:   []string{"n3: worker 1", "n4: worker 1"}, priced: 2},

		{name: "eligible nodes", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 1 1"},
			change: func(topology topo, d demand) {
				d.Roles[0].Eligible, d.Roles[1].Eligible = setOf(t, topology, "n1", "n4"), setOf(t, topology, "n2", "n4", "n6")
			}, want: []string{"n4: ps 1, worker 2"}},
		{name: "eligible nodes apart", pattern: ps, roles: []string{"ps 1 1 0", "worker 2 1 1"},
			change: func(topology topo, d demand) {
				d.Roles[0].Eligible, d.Roles[1].Eligible = setOf(t, topology, "n1", "n3"), setOf(t, topology, "n2", "n6")
			}, want: []string{"n1: ps 1", "n2: worker 2"}, priced: 4},
		{name: "no eligible node has capacity", pattern: ring, roles: []string{"worker 1 1 5"},
			change: func(topology topo, d demand) { d.Roles[0].Eligible = setOf(t, topology, "n2", "n5") }},
	} {
		c.nodes = nodes
		c.named(t)
	}
}

func TestSolveAsManyAsFit(t *testing.T) {
	//	b1
	//	├── r1: n1 (4 cpu, 2 GPUs)  n2 (4, 2)
	//	└── r2: n3 (4, 3)
	nodes := []string{"b1/r1/n1 4 2", "b1/r1/n2 4 2", "b1/r2/n3 4 3"}
	minimum := func(of ...int) func(*placement.Topology, *placement.Demand) {
		return func(_ *placement.Topology, d *placement.Demand) {
			for r := range of {
				d.Roles[r].Minimum = of[r]
			}
		}
	}
	for _, c := range []solveCase{
		// Cheaper would be three on n3; but more is more. N = 7 ranks, 2 x 6/7 for each of three nodes and two racks.
		{name: "all of them", pattern: ring, roles: []string{"worker 9 0 1"}, change: minimum(1),
			want: []string{"n1: worker 2", "n2: worker 2", "n3: worker 3"}, priced: 2 * 6.0 / 7 * (3*1.25 + 2*4), left: []int{7, 8}},
		{name: "the minimum does not fit", pattern: ring, roles: []string{"worker 9 0 1"}, change: minimum(8)},
		{name: "the limit comes first", pattern: ring, roles: []string{"worker 9 0 1"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				minimum(2)(topology, d)
				d.HighestTier = rackTier
			},
			want: []string{"n1: worker 2", "n2: worker 2"}, priced: 4 * 3.0 / 4 * 1.25, left: []int{4, 5, 6, 7, 8}},
		{name: "none at all", pattern: ring, roles: []string{"worker 2 0 4"}, change: minimum(0), want: []string{}, left: []int{0, 1}},
		// A server fills n1, one n2; one worker too many for n3. X = 2 x 3 at the nodes and at the racks.
		{name: "the first role first", pattern: ps, roles: []string{"ps 2 4 0", "worker 4 1 1"}, change: minimum(1, 1),
			want: []string{"n1: ps 1", "n2: ps 1", "n3: worker 3"}, priced: 6 + 4*6, left: []int{3}},
		{name: "a server more than the minimum, as workers need it", pattern: ps, roles: []string{"ps 3 0 0", "worker 5 0 1"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				minimum(1, 5)(topology, d)
				d.Colocation = placement.Required
				d.Roles[0].Request = []int64{3, 0}
				d.Roles[0].Eligible = setOf(t, topology, "n1", "n3")
			},
			// X = 2 (5 - (2 + 3)/2) = 5 at the nodes and at the racks.
			want: []string{"n1: ps 1, worker 2", "n3: ps 1, worker 3"}, priced: 5 + 4*5, left: []int{2}},
	} {
		c.nodes = nodes
		c.named(t)
	}
}

func TestVeryLargeAmounts(t *testing.T) {
	// 32 pods of this size fill the node; so many more of them request less than nothing, if one adds up carelessly.
	const amount = 1<<48 - 1
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"bytes"}, Tiers: placement.DefaultTiers(), Nodes: []placement.NodeSpec{{Name: "n1", Free: []int64{32 * amount}}},
	})
	require.NoError(t, err)
	d := &placement.Demand{Roles: []placement.Role{placementtest.RoleOf("worker", placement.Worker, 1<<16, 0, 0)}}
	d.Roles[0].Request = []int64{amount}
	_, err = placement.Solve(topology, d, placement.Options{})
	require.ErrorIs(t, err, placement.ErrNoFit)

	d.Roles[0].Minimum = 1
	plan, err := placement.Solve(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Assignments, 32)
}
