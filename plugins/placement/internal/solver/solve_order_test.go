// SPDX-License-Identifier: Apache-2.0

package solver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

func TestBytesOrBusiestFirst(t *testing.T) {
	// Two nodes carry 32 M and 16 M at most; four carry 48 M, but 12 M at most. Each node holds 4 servers
	// and 16 workers.
	//
	//	b1
	//	└── r1: n1 (8 cpu, 16 GPUs)  n2  n3  n4
	nodes := []string{"b1/r1/n1 8 16", "b1/r1/n2 8 16", "b1/r1/n3 8 16", "b1/r1/n4 8 16"}
	for _, c := range []struct {
		objective       placement.Objective
		priced, busiest float64
		nodes           int
	}{{placement.BytesFirst, 32, 16, 2}, {placement.BusiestFirst, 48, 12, 4}} {
		topology := placementtest.ClusterOf(t, []string{"rack", "block"}, nodes...)
		d := &placement.Demand{Pattern: ps, Roles: []placement.Role{gang(t, "ps 8 2 0"), gang(t, "worker 32 0 1")}}
		for _, o := range []placement.Options{{Effort: 4}, {}, solver.WithoutExact(placement.Options{})} {
			o.Objective = c.objective
			plan, err := placement.Solve(topology, d, o)
			require.NoError(t, err)
			require.True(t, plan.Optimal || o.Effort < 4)
			require.InDelta(t, c.priced, plan.Cost.WeightedBytes, 1e-9)
			require.InDelta(t, c.busiest, plan.Cost.BusiestSeconds, 1e-9)
			require.Len(t, layout(topology, d, plan), c.nodes)
		}
	}
}

func TestWhatCountsAfterTraffic(t *testing.T) {
	//	b1
	//	├── r1: n1 (8 cpu, 2 GPUs)  n2 (8, 4)
	//	└── r2: n3 (8, 4)
	nodes := []string{"b1/r1/n1 8 2", "b1/r1/n2 8 4", "b1/r2/n3 8 4"}
	prefer := func(of ...map[string]int32) func(*placement.Topology, *placement.Demand) {
		return func(topology *placement.Topology, d *placement.Demand) {
			for r := range of {
				d.Roles[r].Penalty = penalties(t, topology, of[r])
			}
		}
	}
	type last = map[string]int32
	const single = placement.Single
	for _, c := range []solveCase{
		{name: "without preferences, where the least is left", pattern: single, roles: []string{"worker 1 1 1"}, want: []string{"n1: worker 1"}},
		{name: "a node to come last", pattern: single, roles: []string{"worker 1 1 1"}, change: prefer(last{"n1": 9}), want: []string{"n3: worker 1"}},
		{name: "the lowest penalty", pattern: single, roles: []string{"worker 1 1 1"}, change: prefer(last{"n1": 9, "n2": 3, "n3": 4}), want: []string{"n2: worker 1"}},
		{name: "a node to come last, which is needed", pattern: single, roles: []string{"worker 3 1 3"}, change: prefer(last{"n2": 9})},
		{name: "all of a role", pattern: single, roles: []string{"worker 3 1 2"}, change: prefer(last{"n2": 9, "n3": 1}), want: []string{"n1: worker 1", "n3: worker 2"}},
		{name: "traffic counts more", pattern: ps, roles: []string{"ps 1 4 0", "worker 3 1 1"}, change: prefer(last{}, last{"n2": 9}), want: []string{"n3: ps 1, worker 3"}},
		{name: "traffic counts more than any penalty", pattern: ps, roles: []string{"ps 1 4 0", "worker 3 1 1"}, change: prefer(last{}, last{"n2": 90, "n3": 99}),
			want: []string{"n2: ps 1, worker 3"}},
		{name: "each role has its own", pattern: single, roles: []string{"worker 1 1 2", "ps 1 1 2"}, change: prefer(last{"n1": 1, "n3": 1}, last{"n2": 1, "n3": 1}),
			want: []string{"n1: ps 1", "n2: worker 1"}},
		{name: "without colocation, only preferences count", pattern: ps, roles: []string{"ps 1 4 0", "worker 1 1 1"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				prefer(last{"n1": 1, "n2": 1}, last{"n1": 1, "n3": 1})(topology, d)
				d.Colocation = placement.None
			}, want: []string{"n2: worker 1", "n3: ps 1"}, priced: 2 + 8},
		// Two pods of 2 GPUs on n1 and n2 leave 0 + 2 + 4; together on n3, they leave 0 there, and n1 as it is.
		{name: "without colocation, the least is left on the nodes used", pattern: ring, roles: []string{"worker 2 1 2"},
			change: func(_ *placement.Topology, d *placement.Demand) { d.Colocation = placement.None }, want: []string{"n3: worker 2"}},
	} {
		c.nodes = nodes
		c.named(t)
	}
}

// islandCluster has nodes of two islands with so many GPUs free, 4 in each; they are in one rack.
func islandCluster(t testing.TB, free ...[2]int) *placement.Topology {
	spec := placement.TopologySpec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack")}
	for i, f := range free {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{
			Name: "n" + string(rune('1'+i)), Domains: []string{"r1"}, Free: []int64{64, int64(f[0] + f[1])},
			Islands: []placement.Island{{Size: 4, Free: f[0]}, {Size: 4, Free: f[1]}},
		})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

func TestIslandsDecide(t *testing.T) {
	for _, c := range []struct {
		name    string
		pattern placement.Pattern
		free    [][2]int
		role    string
		want    []string
		islands float64 // bytes between islands
	}{
		{"a ring goes to a whole island", ring, [][2]int{{2, 2}, {4, 0}}, "worker 1 1 4", []string{"n2: worker 1"}, 0},
		{"so do the GPUs of one pod", placement.Single, [][2]int{{2, 2}, {4, 0}}, "worker 1 1 4", []string{"n2: worker 1"}, 0},
		{"and those of a worker without servers", ps, [][2]int{{2, 2}, {4, 0}}, "worker 1 1 4", []string{"n2: worker 1"}, 0},
		{"an island that is broken already is taken first", placement.Single, [][2]int{{4, 0}, {2, 2}}, "worker 1 1 2", []string{"n2: worker 1"}, 0},
		{"even if more is left there", ring, [][2]int{{2, 2}, {4, 4}}, "worker 1 1 4", []string{"n2: worker 1"}, 0},
		{"no island is whole: two ends on each of two, 3/4 M each", ring, [][2]int{{2, 2}, {3, 2}}, "worker 1 1 4", []string{"n1: worker 1"}, 4 * 0.75},
		{"a whole island is no fragmentation if the pod takes it all", placement.Single, [][2]int{{4, 0}, {3, 1}}, "worker 1 1 4", []string{"n1: worker 1"}, 0},
		{"a pod that no island holds does no fragmentation by that", placement.Single, [][2]int{{4, 4}, {4, 3}}, "worker 1 1 6", []string{"n2: worker 1"}, 0},
		{"pods of a ring on one island", ring, [][2]int{{3, 3}, {4, 1}}, "worker 2 1 2", []string{"n2: worker 2"}, 0},
		{"pods take the fullest island that holds them, here two", ring, [][2]int{{3, 3}, {4, 2}}, "worker 2 1 2", []string{"n1: worker 2"}, 4 * 0.75},
	} {
		t.Run(c.name, func(t *testing.T) {
			topology := islandCluster(t, c.free...)
			d := &placement.Demand{Pattern: c.pattern, Roles: []placement.Role{gang(t, c.role)}}
			for _, o := range []placement.Options{{}, solver.WithoutExact(placement.Options{})} {
				plan, err := placement.Solve(topology, d, o)
				require.NoError(t, err)
				require.Equal(t, c.want, layout(topology, d, plan))
				require.InDelta(t, c.islands, plan.Cost.Tiers[placement.IslandTier].Bytes, 1e-9)
			}
		})
	}
}

func TestParallelGroupsStayTogether(t *testing.T) {
	group := func(size int) func(*placement.Topology, *placement.Demand) {
		return func(_ *placement.Topology, d *placement.Demand) { d.GroupSize = size }
	}
	for _, c := range []solveCase{
		// 6 and 2 would cut the second group. 8 ranks: two runs of 2 x 7/8.
		{name: "in a node", nodes: []string{"b1/r1/n1 9 6", "b1/r1/n2 9 6"}, pattern: ring, roles: []string{"worker 8 1 1"}, change: group(4),
			want: []string{"n1: worker 4", "n2: worker 4"}, priced: 4 * 7.0 / 8 * 1.25},
		{name: "in a pod, which costs nothing", pattern: ring, roles: []string{"worker 2 1 4"}, change: group(4),
			nodes: []string{"b1/r1/n1 9 4", "b1/r1/n2 9 4"}, want: []string{"n1: worker 1", "n2: worker 1"}, priced: 4 * 7.0 / 8 * 1.25},
	} {
		c.named(t)
	}
}

func TestParallelGroupsInRacks(t *testing.T) {
	// Groups of two pods. Three nodes of one rack and one of the other would be as good for the ring, and cut a group between
	// the racks. 16 ranks of 4 pods: each of 4 nodes has the ring's 2 ends and 2 x 64 of its group, each rack the ring's 2.
	//
	//	b1
	//	├── r1: n1 (4 GPUs)  n2 (4)  n3 (4)
	//	└── r2: n4 (4)       n5 (4)  n6 (4)
	topology := placementtest.ClusterOf(t, []string{"rack", "block"}, "b1/r1/n1 9 4", "b1/r1/n2 9 4", "b1/r1/n3 9 4", "b1/r2/n4 9 4", "b1/r2/n5 9 4", "b1/r2/n6 9 4")
	d := &placement.Demand{Pattern: ring, GroupSize: 8, Roles: []placement.Role{gang(t, "worker 4 1 4")}}
	for _, o := range []placement.Options{{}, solver.WithoutExact(placement.Options{})} {
		plan, err := placement.Solve(topology, d, o)
		require.NoError(t, err)
		require.InDelta(t, 15.0/16*(4*(2+2*64)*1.25+2*2*4), plan.Cost.WeightedBytes, 1e-9)
		for i := 0; i < 4; i += 2 {
			require.Equal(t, topology.Ancestor(plan.Assignments[i].Node, rackTier), topology.Ancestor(plan.Assignments[i+1].Node, rackTier))
		}
	}
}

// Servers and the first workers run in rack a, which is full; the last two workers go to another rack at the same cost and
// with the same busiest uplink (that of n1), together or apart: one node less is broken if they are together.
//
//	          a                b
//	 n0       n1       n2      n3
//	2 ps   2 worker   8 GPUs  8 GPUs      free GPUs of a: 0; each worker takes 4
func TestEquallyBusyPlansBreakFewestNodes(t *testing.T) {
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack"),
		Nodes: []placement.NodeSpec{
			{Name: "n0", Domains: []string{"a"}, Free: []int64{0}}, {Name: "n1", Domains: []string{"a"}, Free: []int64{0}},
			{Name: "n2", Domains: []string{"b"}, Free: []int64{8}}, {Name: "n3", Domains: []string{"b"}, Free: []int64{8}},
		},
	})
	require.NoError(t, err)
	plan, err := placement.Solve(topology, &placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
		{Name: "server", CommRole: placement.Server, Request: []int64{0}, Placed: []placement.Placed{{Index: 0, Node: 0}, {Index: 1, Node: 0}}},
		{Name: "worker", CommRole: placement.Worker, Request: []int64{4}, Placed: []placement.Placed{{Index: 0, Node: 1}, {Index: 1, Node: 1}}, Pending: []int{2, 3}},
	}}, placement.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Assignments, 2)
	require.Equal(t, plan.Assignments[0].Node, plan.Assignments[1].Node)
}
