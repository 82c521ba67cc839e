// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
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

func TestDiagnose(t *testing.T) {
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
		want   placement.Blocker
		lacks  []int // members of each role
	}{
		{"the rack is too small", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}},
			placement.Blocker{Kind: placement.Insufficient, Resource: "nvidia.com/gpu", Free: 6, Needed: 8, Nodes: 2, Eligible: 2}, []int{2}},
		{"only no limit helps", placement.Demand{HighestTier: blockTier, Roles: []placement.Role{workersOf(12, 1, 1)}},
			placement.Blocker{Kind: placement.Insufficient, Resource: "nvidia.com/gpu", Free: 10, Needed: 12, Nodes: 4, Eligible: 4}, []int{2}},
		{"the cluster is too small", placement.Demand{Roles: []placement.Role{workersOf(16, 1, 1)}},
			placement.Blocker{Kind: placement.NoNode, Resource: "cpu", Needed: 1, Node: "n6", Nodes: 6, Eligible: 6}, []int{3}},
		{"GPUs are scattered", placement.Demand{Roles: []placement.Role{workersOf(1, 1, 8)}},
			placement.Blocker{Kind: placement.NoNode, Resource: "nvidia.com/gpu", Free: 4, Needed: 8, Node: "n6", Nodes: 6, Eligible: 6}, []int{1}},
		{"GPUs are scattered after some", placement.Demand{Roles: []placement.Role{workersOf(5, 1, 3)}},
			placement.Blocker{Kind: placement.NoNode, Resource: "nvidia.com/gpu", Free: 2, Needed: 3, Node: "n1", Nodes: 6, Eligible: 6}, []int{2}},
		{"too few, and scattered", placement.Demand{Roles: []placement.Role{workersOf(3, 1, 6)}},
			placement.Blocker{Kind: placement.NoNode, Resource: "nvidia.com/gpu", Free: 4, Needed: 6, Node: "n6", Nodes: 6, Eligible: 6}, []int{3}},
		{"GPUs here, cpu there", placement.Demand{Roles: []placement.Role{workersOf(1, 10, 4)}},
			placement.Blocker{Kind: placement.NoNode, Resource: "cpu", Free: 2, Needed: 10, Node: "n6", Nodes: 6, Eligible: 6}, []int{1}},
		{"no node is eligible", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{only(t, topology, workersOf(1, 1, 1))}},
			placement.Blocker{Kind: placement.NotEligible, Nodes: 2}, []int{1}},
		{"one node is eligible", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(2, 1, 2), "n3")}},
			placement.Blocker{Kind: placement.NotEligible, Nodes: 6, Eligible: 1}, []int{1}},
		{"two nodes are eligible", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(3, 1, 2), "n3", "n4")}},
			placement.Blocker{Kind: placement.NotEligible, Nodes: 6, Eligible: 2}, []int{1}},
		{"eligible nodes have too little, as all have", placement.Demand{Roles: []placement.Role{only(t, topology, workersOf(2, 1, 5), "n3", "n4")}},
			placement.Blocker{Kind: placement.NoNode, Resource: "nvidia.com/gpu", Free: 3, Needed: 5, Node: "n3", Nodes: 6, Eligible: 2}, []int{2}},
		{"members beyond the minimum do not count", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{atLeast(7, workersOf(9, 1, 1))}},
			placement.Blocker{Kind: placement.Insufficient, Resource: "nvidia.com/gpu", Free: 6, Needed: 7, Nodes: 2, Eligible: 2}, []int{1}},
		{"running members count as capacity", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, topology, workersOf(8, 1, 1), "n1", "n2")}},
			placement.Blocker{Kind: placement.Insufficient, Resource: "nvidia.com/gpu", Free: 4, Needed: 6, Nodes: 2, Eligible: 2}, []int{2}},
		{"running members are apart", placement.Demand{HighestTier: rackTier, Roles: []placement.Role{placementtest.Running(t, topology, workersOf(3, 1, 1), "n1", "n5")}},
			placement.Blocker{Kind: placement.RunningApart}, []int{1}},
		{"two roles", placement.Demand{Pattern: ps, HighestTier: rackTier, Roles: []placement.Role{servers(3, 10), workersOf(8, 1, 1)}},
			placement.Blocker{Kind: placement.Insufficient, Role: 1, Resource: "nvidia.com/gpu", Free: 6, Needed: 8, Nodes: 2, Eligible: 2}, []int{1, 2}},
		{"servers for the workers' nodes", placement.Demand{Pattern: ps, Colocation: placement.Required, Roles: []placement.Role{servers(2, 4), workersOf(7, 1, 1)}},
			placement.Blocker{Kind: placement.NoServerNearby, Role: 1, TierName: "node"}, []int{0, 1}},
		{"one server for the workers' rack", placement.Demand{Pattern: ps, Colocation: placement.Required, ColocationTier: rackTier, Roles: []placement.Role{servers(1, 4), workersOf(7, 1, 1)}},
			placement.Blocker{Kind: placement.NoServerNearby, Role: 1, TierName: "rack"}, []int{0, 1}},
		{"a server beside no worker", placement.Demand{Pattern: ps, Colocation: placement.Required, Roles: []placement.Role{servers(1, 16), workersOf(2, 1, 3)}},
			placement.Blocker{Kind: placement.NoServerNearby, Role: 1, TierName: "node"}, []int{0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := placement.Diagnose(topology, &c.demand, placement.Options{})
			require.NoError(t, err)
			require.Equal(t, c.want, e.Blocker)
			lacks := make([]int, len(e.Roles))
			for r := range e.Roles {
				lacks[r] = e.Roles[r].Missing
			}
			require.Equal(t, c.lacks, lacks)
		})
	}
}

func TestDiagnoseAFullNode(t *testing.T) {
	topology := crowdedCluster(t)
	d := &placement.Demand{HighestTier: placement.NodeTier, Roles: []placement.Role{workersOf(5, 1, 1)}}
	e, err := placement.Diagnose(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, placement.DomainCapacity{ID: 2, Name: "n3", Tier: placement.NodeTier, TierName: "node", Fits: []int{3}}, e.Domain)
}

// Two domains of a tier have the same name.
func TestDiagnoseNamesDomainsByTheirPathIfTheyMust(t *testing.T) {
	topology := placementtest.ClusterOf(t, []string{"tier 1", "tier 2"}, "a/s/n1 9 3", "a/s/n2 9 3", "b/s/n3 9 3", "a/z/n4 9 2")
	e, err := placement.Diagnose(topology, &placement.Demand{HighestTier: rackTier, Roles: []placement.Role{workersOf(8, 1, 1)}}, placement.Options{})
	require.NoError(t, err)
	require.Equal(t, "a/s", e.Domain.Name)
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
