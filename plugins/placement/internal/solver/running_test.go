// SPDX-License-Identifier: Apache-2.0

package solver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// Tiers of clusters with racks and blocks.
const (
	rackTier  = placement.NodeTier + 1
	blockTier = placement.NodeTier + 2
)

// growingCluster has one small node and five large ones, in three racks of two blocks. What running members use is taken.
//
//	cluster
//	├── b1
//	│   ├── r1: n1 (8 cpu, 2 GPUs)  n2 (64, 8)
//	│   └── r2: n3 (64, 8)          n4 (64, 8)
//	└── b2
//	    └── r3: n5 (64, 8)          n6 (64, 8)
func growingCluster(t testing.TB, roles ...placement.Role) *placement.Topology {
	topology := placementtest.ClusterOf(t, []string{"rack", "block"},
		"b1/r1/n1 8 2", "b1/r1/n2 64 8", "b1/r2/n3 64 8", "b1/r2/n4 64 8", "b2/r3/n5 64 8", "b2/r3/n6 64 8")
	for _, role := range roles {
		for _, member := range role.Placed {
			_, err := topology.Take(member.Node, role.Request)
			require.NoError(t, err)
		}
	}
	return topology
}

func TestGrowNextToThoseThatRun(t *testing.T) {
	empty := growingCluster(t)
	servers := func(nodes ...string) placement.Role {
		return placementtest.Running(t, empty, placementtest.RoleOf("ps", placement.Server, len(nodes), 2, 0), nodes...)
	}
	workers := func(all int, gpus int64, nodes ...string) placement.Role {
		return placementtest.Running(t, empty, placementtest.RoleOf("worker", placement.Worker, all, 1, gpus), nodes...)
	}
	const ps, collective = placement.ParameterServer, placement.Collective
	for _, c := range []struct {
		name    string
		pattern placement.Pattern
		roles   []placement.Role
		want    []string
		priced  float64
	}{
		{"a worker goes to the server's node", ps, []placement.Role{servers("n2"), workers(3, 1, "n2", "n2")}, []string{"n2"}, 0},
		// n1 has no GPU left after one more worker; the next one's traffic crosses the borders of n1 and n2, M each, at weight 1.
		{"then to the server's rack", ps, []placement.Role{servers("n1"), workers(3, 1, "n1")}, []string{"n1", "n2"}, 2},
		// All three are on other nodes than the server, two of them in another rack, at price 4.
		{"then to the server's block", ps, []placement.Role{servers("n1"), workers(3, 8, "n2")}, []string{"n3", "n4"}, 3*2 + 2*2*4},
		// Two of three workers are beside it, the third a rack away: 2 M x (1 + 4).
		{"a lost server goes back to its workers", ps, []placement.Role{servers(""), workers(3, 1, "n2", "n2", "n3")}, []string{"n2"}, 10},
		{"a lost server goes back beside the other one", ps, []placement.Role{servers("n3", ""), workers(4, 1, "n3", "n3", "n3", "n3")}, []string{"n3"}, 0},
		{"a lost rank goes back to its neighbors", collective, []placement.Role{workers(4, 1, "n3", "n3", "", "n3")}, []string{"n3"}, 0},
		// Each of the two nodes, and its one island at a quarter of the price, carries 2 x 15/16 M.
		{"new ranks stay in the rack", collective, []placement.Role{workers(2, 8, "n5")}, []string{"n6"}, 2 * 2 * 15.0 / 16 * 1.25},
		{"a lost rank takes its place in the order", collective, []placement.Role{workers(4, 8, "n3", "", "n5", "n6")}, []string{"n4"},
			2 * 31.0 / 32 * (4*1.25 + 2*4 + 2*16)},
		{"members that do not talk go where the least is left", placement.Single, []placement.Role{workers(1, 1)}, []string{"n1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			topology := growingCluster(t, c.roles...)
			d := &placement.Demand{Pattern: c.pattern, Roles: c.roles}
			plan, err := placement.Solve(topology, d, placement.Options{})
			require.NoError(t, err)
			require.NoError(t, legal.Check(topology, d, plan.Assignments))
			require.Equal(t, c.want, nodesOf(topology, plan))
			require.InDelta(t, c.priced, plan.Cost.WeightedBytes, 1e-9)
		})
	}
}

func TestGrowByAsManyAsFit(t *testing.T) {
	// Three workers of 2 GPUs run on n2: one more fits there, one on n1, and the limit keeps the rest out of other racks.
	role := placementtest.Running(t, growingCluster(t), placementtest.RoleOf("worker", placement.Worker, 8, 1, 2), "n2", "n2", "n2")
	role.Minimum = 3
	topology := growingCluster(t, role)
	d := &placement.Demand{Pattern: placement.Collective, Roles: []placement.Role{role}, HighestTier: rackTier}
	plan, err := placement.Solve(topology, d, placement.Options{})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"n1", "n2"}, nodesOf(topology, plan))
	require.Equal(t, []int{5, 6, 7}, placementtest.IndexesOf(plan.Left))
}

// nodesOf names the nodes of a plan's members, in their order.
func nodesOf(topology *placement.Topology, plan *placement.Plan) (names []string) {
	for _, a := range plan.Assignments {
		names = append(names, topology.NodeName(a.Node))
	}
	return names
}
