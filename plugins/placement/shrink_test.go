// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	rackTier  = placement.NodeTier + 1
	blockTier = placement.NodeTier + 2
)

// Nodes n1 to n4 in rack r1, n5 and n6 in rack r2.
//
//	cluster
//	├── r1: n1 n2 n3 n4
//	└── r2: n5 n6
func shrinkingCluster(t testing.TB) *placement.Topology {
	return clusterOf(t, []string{"rack"}, "r1/n1 0 0", "r1/n2 0 0", "r1/n3 0 0", "r1/n4 0 0", "r2/n5 0 0", "r2/n6 0 0")
}

func TestShrink(t *testing.T) {
	topology := shrinkingCluster(t)
	role := func(name string, traffic placement.Traffic, minimum int, nodes ...string) placement.Role {
		r := running(t, topology, gangRole(name, traffic, len(nodes), 1, 1), nodes...)
		r.Minimum = minimum
		return r
	}
	penalized := role("worker", placement.Worker, 0, "n1", "n2", "n3")
	penalized.Penalty = []int32{0, 7, 0, 0, 0, 0}
	for _, c := range []struct {
		name   string
		demand placement.Demand
		role   int
		count  int
		want   []int
	}{
		// Workers 0 and 2 are a rack away from the only server.
		{"workers far from the server go", placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n1"), role("worker", placement.Worker, 1, "n5", "n1", "n6", "n2"),
		}}, 1, 2, []int{0, 2}},
		{"of equals the highest indexes go", placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n1"), role("worker", placement.Worker, 1, "n2", "n2", "n3", "n4"),
		}}, 1, 2, []int{2, 3}},
		{"the server far from the workers goes", placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n5", "n1"), role("worker", placement.Worker, 1, "n1", "n2", "n5"),
		}}, 0, 1, []int{0}},
		// Rank 1 is alone in the other rack.
		{"the rank out of the way goes", placement.Demand{Pattern: placement.Collective, Roles: []placement.Role{
			role("worker", placement.Worker, 1, "n1", "n5", "n1", "n2"),
		}}, 0, 1, []int{1}},
		// Groups of 2: 0 and 1 straddle two racks, 2 and 3 share a node, 4 and 5 share another.
		{"the group that is torn apart goes", placement.Demand{Pattern: placement.Collective, GroupSize: 2, Roles: []placement.Role{
			role("worker", placement.Worker, 1, "n1", "n5", "n2", "n2", "n3", "n3"),
		}}, 0, 2, []int{0, 1}},
		{"without traffic the highest indexes go", placement.Demand{Roles: []placement.Role{
			role("worker", placement.Worker, 1, "n1", "n5", "n2"),
		}}, 0, 2, []int{1, 2}},
		{"those on nodes to come last go first", placement.Demand{Roles: []placement.Role{penalized}}, 0, 1, []int{1}},
		{"traffic is left out of account", placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.None, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n1"), role("worker", placement.Worker, 1, "n5", "n1", "n1"),
		}}, 1, 1, []int{2}},
		{"nobody goes", placement.Demand{Roles: []placement.Role{role("worker", placement.Worker, 1, "n1")}}, 0, 0, nil},
		// Server 1 is the only one on n5, where a worker runs; servers 0 and 2 share n1.
		{"workers keep their server", placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.Required, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n1", "n5", "n1"), role("worker", placement.Worker, 1, "n1", "n1", "n1", "n5"),
		}}, 0, 1, []int{2}},
		{"a worker may leave its server", placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.Required, Roles: []placement.Role{
			role("ps", placement.Server, 1, "n1", "n5"), role("worker", placement.Worker, 1, "n1", "n1", "n1", "n5"),
		}}, 1, 1, []int{3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			members, err := placement.Shrink(topology, &c.demand, c.role, c.count, placement.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, indexesOf(members))
			for _, m := range members {
				require.Equal(t, c.role, m.Role)
			}
		})
	}
}

func TestShrinkByTheObjective(t *testing.T) {
	// Server on n1 (rack r1), workers 0 and 1 on n5, 2 on n2, one in all goes. n5 is two racks away: without one of its
	// workers 2 M fewer cross at 4 + 1. But the uplink of n2 is so narrow that it is the busiest.
	spec := placement.TopologySpec{Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack"),
		Uplinks: []placement.Uplink{{Tier: placement.NodeTier, Path: "r1/n2", Bandwidth: 0.1}}}
	for _, n := range [][2]string{{"r1", "n1"}, {"r1", "n2"}, {"r2", "n5"}} {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: n[1], Domains: []string{n[0]}, Free: []int64{0}})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	d := placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{
		{Name: "ps", Traffic: placement.Server, Request: []int64{0}, Placed: []placement.Placed{{Node: 0}}},
		{Name: "worker", Traffic: placement.Worker, Request: []int64{1}, Placed: []placement.Placed{{0, 2}, {1, 2}, {2, 1}}},
	}}
	for objective, want := range map[placement.Objective][]int{placement.BytesFirst: {1}, placement.BusiestFirst: {2}} {
		members, err := placement.Shrink(topology, &d, 1, 1, placement.Options{Objective: objective})
		require.NoError(t, err)
		require.Equal(t, want, indexesOf(members))
	}
}

func TestShrinkRefuses(t *testing.T) {
	topology := shrinkingCluster(t)
	role := func(name string, traffic placement.Traffic, minimum int, nodes ...string) placement.Role {
		r := running(t, topology, gangRole(name, traffic, len(nodes), 1, 1), nodes...)
		r.Minimum = minimum
		return r
	}
	d := &placement.Demand{Pattern: placement.ParameterServer, Colocation: placement.Required, Roles: []placement.Role{
		role("ps", placement.Server, 0, "n1", "n2", "n2", "n3"), role("worker", placement.Worker, 2, "n1", "n1", "n2"),
	}}
	for _, c := range []struct {
		name        string
		role, count int
		says        string
	}{
		{"no such role", 2, 1, "role number 2 of 2"},
		{"a role below 0", -1, 1, "role number -1 of 2"},
		{"fewer than none", 1, -1, "-1 members are to go, and 3 run"},
		{"more than run", 1, 4, "4 members are to go, and 3 run"},
		{"below the minimum", 1, 2, `role "worker": 2 of 3 running members are to go, and 2 must stay (its minimum): at most 1 can go`},
		{"workers left alone", 0, 3, "at most 2 can: each node with workers must keep a server (colocation Required)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			members, err := placement.Shrink(topology, d, c.role, c.count, placement.Options{})
			require.ErrorContains(t, err, c.says)
			require.Empty(t, members)
		})
	}
	broken := *d
	broken.HighestTier = 99
	_, err := placement.Shrink(topology, &broken, 0, 1, placement.Options{})
	_, same := placement.Solve(topology, &broken, placement.Options{})
	require.EqualError(t, err, same.Error())
}
