// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// Free cpu and GPUs:
//
//	cluster
//	├── b1
//	│   ├── r1: n1 (16 cpu, 2 GPUs)  n2 (16, 2)
//	│   └── r2: n3 (16, 3)           n4 (16, 3)
//	└── b2
//	    └── r3: n5 (16, 1)           n6 (2, 4)
func crowdedCluster(t testing.TB) *placement.Topology {
	return placementtest.ClusterOf(t, []string{"rack", "block"},
		"b1/r1/n1 16 2", "b1/r1/n2 16 2", "b1/r2/n3 16 3", "b1/r2/n4 16 3", "b2/r3/n5 16 1", "b2/r3/n6 2 4")
}

func workersOf(members int, cpu, gpus int64) placement.Role {
	return placementtest.RoleOf("worker", placement.Worker, members, cpu, gpus)
}

// only some nodes are eligible for a role.
func only(t testing.TB, topology *placement.Topology, role placement.Role, nodes ...string) placement.Role {
	role.Eligible = placement.NewNodeSet(topology)
	for _, name := range nodes {
		node, ok := topology.Node(name)
		require.True(t, ok, name)
		role.Eligible.Add(node)
	}
	return role
}

func TestDiagnoseInOneSentence(t *testing.T) {
	topology := crowdedCluster(t)
	servers := func(n int, cpu int64) placement.Role { return placementtest.RoleOf("ps", placement.Server, n, cpu, 0) }
	atLeast := func(minimum int, role placement.Role) placement.Role {
		role.Minimum = minimum
		return role
	}
	ps := placement.ParameterServer
	for _, c := range []struct {
		name   string
		demand placement.Demand
		kind   placement.BlockerKind
		says   string
	}{
		{"the rack is too small", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}}, placement.Insufficient,
			"2 of 8 workers have no room: rack r2 has 6 GPUs free, 8 needed in one rack (networkTopology hard, tier rack); fits with tier block"},
		{"only no limit helps", placement.Demand{HighestTier: blockTier, Roles: []placement.Role{workersOf(12, 1, 1)}}, placement.Insufficient,
			"2 of 12 workers have no room: block b1 has 10 GPUs free, 12 needed in one block (networkTopology hard, tier block); fits without a networkTopology limit"},
		{"the cluster is too small", placement.Demand{Roles: []placement.Role{workersOf(16, 1, 1)}}, placement.Insufficient,
			"3 of 16 workers have no room: the cluster has 15 GPUs free, 16 needed, and no node with 1 GPU left has 1 cpu too; fits with 13 workers"},
		{"GPUs are scattered", placement.Demand{Roles: []placement.Role{workersOf(1, 1, 8)}}, placement.Fragmented,
			"1 of 1 worker has no room: the cluster has 15 GPUs free, but no node has the 8 that one worker needs (the most is 4); fits with 4 more GPUs in the cluster (on n6)"},
		{"GPUs are scattered after some", placement.Demand{Roles: []placement.Role{workersOf(5, 1, 3)}}, placement.Fragmented,
			"2 of 5 workers have no room: the cluster has 6 GPUs left, but no node has the 3 that one worker needs (the most is 2); fits with 3 workers"},
		{"too few, and scattered", placement.Demand{Roles: []placement.Role{workersOf(3, 1, 6)}}, placement.Insufficient,
			"3 of 3 workers have no room: the cluster has 15 GPUs free, 18 needed, and no node has the 6 GPUs that one worker needs (the most is 4); fits with 8 more GPUs in the cluster (on 3 nodes)"},
		{"GPUs here, cpu there", placement.Demand{Roles: []placement.Role{workersOf(1, 10, 4)}}, placement.NoSingleNode,
			"1 of 1 worker has no room: the cluster has 1 node with 4 GPUs free, but none with 10 cpu too; fits with 8 more cpu in the cluster (on n6)"},
		{"no node is eligible", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{only(t, topology, workersOf(1, 1, 1))}}, placement.NotEligible,
			"1 of 1 worker has no room: none of the 2 nodes of rack r1 is eligible for a worker (networkTopology hard, tier rack); no single change was found with which it fits"},
		{"one node is eligible", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(2, 1, 2), "n3")}}, placement.NotEligible,
			"1 of 2 workers has no room: only 1 of 6 nodes of the cluster is eligible for a worker; fits with 1 worker"},
		{"two nodes are eligible", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(3, 1, 2), "n3", "n4")}}, placement.NotEligible,
			"1 of 3 workers has no room: only 2 of 6 nodes of the cluster are eligible for a worker; fits with 2 workers"},
		{"eligible nodes have too little, as all have", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(2, 1, 5), "n3", "n4")}}, placement.Insufficient,
			"2 of 2 workers have no room: the cluster has 6 GPUs free on the 2 of 6 nodes that a worker may use, 10 needed, and no node has the 5 GPUs that one worker needs (the most is 3); fits with 4 more GPUs in the cluster (on n3 and n4)"},
		{"members beyond the minimum do not count", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{atLeast(7, workersOf(9, 1, 1))}}, placement.Insufficient,
			"1 of 7 workers (the minimum) has no room: rack r2 has 6 GPUs free, 7 needed in one rack (networkTopology hard, tier rack); fits with tier block"},
		{"running members count as room that is there", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, topology, workersOf(8, 1, 1), "n1", "n2")}}, placement.Insufficient,
			"2 of 8 workers have no room: rack r1 has 4 GPUs free, 6 needed in one rack (networkTopology hard, tier rack); fits with tier block"},
		{"running members are apart", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, topology, workersOf(3, 1, 1), "n1", "n5")}}, placement.RunningApart,
			"running members are in 2 racks, and all must be in one rack (networkTopology hard, tier rack); fits without a networkTopology limit"},
		{"two roles", placement.Demand{Pattern: ps, HighestTier: rackTier, Roles: []placement.Role{servers(3, 10), workersOf(8, 1, 1)}}, placement.Insufficient,
			"1 of 3 ps and 2 of 8 workers have no room: rack r2 has 6 GPUs free, 8 needed in one rack (networkTopology hard, tier rack); fits with tier block"},
		{"servers for the workers' nodes", placement.Demand{Pattern: ps, Colocation: placement.Required, Roles: []placement.Role{servers(2, 4), workersOf(7, 1, 1)}}, placement.NoServerNearby,
			"each worker must have a server in its node (colocation Required): the best 2 nodes for servers have room for 6 of 7 workers; fits with colocation Preferred"},
		{"one server for the workers' rack", placement.Demand{Pattern: ps, Colocation: placement.Required, ColocationTier: rackTier, Roles: []placement.Role{servers(1, 4), workersOf(7, 1, 1)}}, placement.NoServerNearby,
			"each worker must have a server in its rack (colocation Required): the best rack for a server has room for 6 of 7 workers; fits with colocation Preferred"},
		{"a server beside no worker", placement.Demand{Pattern: ps, Colocation: placement.Required, Roles: []placement.Role{servers(1, 16), workersOf(2, 1, 3)}}, placement.NoServerNearby,
			"each worker must have a server in its node (colocation Required): the best node for a server has room for 1 of 2 workers; fits with colocation Preferred"},
		{"it fits", placement.Demand{Roles: []placement.Role{workersOf(2, 1, 1)}}, "", "it fits"},
		{"some of it fits", placement.Demand{Roles: []placement.Role{atLeast(2, workersOf(17, 1, 1))}}, "", "it fits, but for 4 members beyond the minimum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := placement.Diagnose(topology, &c.demand, placement.Options{})
			require.NoError(t, err)
			require.Equal(t, c.says, e.String())
			require.Equal(t, c.kind, e.BlockerKind())
		})
	}
}

// Tiers are named by the number that users write.
func TestDiagnoseWithNumberedTiers(t *testing.T) {
	number := func(tier int) string { return strconv.Itoa(tier - placement.NodeTier) }
	d := &placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}}
	e, err := placement.Diagnose(crowdedCluster(t), d, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, "2 of 8 workers have no room: rack r2 has 6 GPUs free, 8 needed in one rack (networkTopology hard, tier 1); fits with tier 2", e.Sentence(number))

	// Two domains of a tier have the same name, and the tier's own name is a number.
	topology := placementtest.ClusterOf(t, []string{"tier 1", "tier 2"}, "a/s/n1 9 3", "a/s/n2 9 3", "b/s/n3 9 3", "a/z/n4 9 2")
	e, err = placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, "2 of 8 workers have no room: domain a/s of tier 1 has 6 GPUs free, 8 needed in one domain of tier 1 (networkTopology hard, tier 1); fits with tier 2", e.String())
}

func TestDiagnoseAFullNode(t *testing.T) {
	topology := crowdedCluster(t)
	d := &placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{workersOf(5, 1, 1)}}
	e, err := placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	capacity := e.Tiers[e.DecidingTier]
	require.Equal(t, "node", capacity.Name)
	require.Equal(t, 6, capacity.Domains)
	require.Len(t, capacity.Best, 3)
	require.Equal(t, []string{"b1/r2/n3", "b1/r2/n4", "b2/r3/n6"}, []string{capacity.Best[0].Name, capacity.Best[1].Name, capacity.Best[2].Name})
	require.Equal(t, []int{3}, capacity.Best[0].Together)
	require.Equal(t, placement.Blocker{
		Kind: placement.Insufficient, Resource: "nvidia.com/gpu", Free: 3, Needed: 5, Nodes: 1, Eligible: 1,
	}, capacity.Best[0].Blockers[0])
}

func TestDiagnoseBadInput(t *testing.T) {
	topology := crowdedCluster(t)
	for _, d := range []*placement.Demand{
		{HighestTier: 9}, {Pattern: 7}, {Roles: []placement.Role{{Name: "worker", Request: []int64{1}}}},
		{Roles: []placement.Role{{Name: "worker", Request: []int64{1, 1}, Minimum: 1}}},
	} {
		_, want := placement.Solve(topology, d, placement.Options{})
		e, err := placement.Diagnose(topology, d, placement.Options{})
		require.Nil(t, e)
		require.EqualError(t, err, want.Error())
	}
}

func TestDiagnoseLongNames(t *testing.T) {
	long := strings.Repeat("a-rack-with-a-very-long-name-", 6)
	topology := placementtest.ClusterOf(t, []string{"rack"}, long+"/n1 9 3")
	for length, name := range map[string]string{"short": "worker", "long": strings.Repeat("trainer-", 20), "endless": strings.Repeat("é", 200)} {
		t.Run(length, func(t *testing.T) {
			d := &placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.RoleOf(name, placement.Worker, 4, 1, 1)}}
			e, err := placement.Diagnose(topology, d, placement.Options{})
			require.NoError(t, err)
			require.LessOrEqual(t, len(e.String()), 300)
			require.Contains(t, e.String(), "1 of 4 "+name[:6])
			require.Equal(t, "with 3 "+name+"s", e.SuggestionTexts(nil)[0])
		})
	}
}
