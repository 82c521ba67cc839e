// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// uplinkTopology has two racks; the uplink of n3 is half as wide as the others.
//
//	cluster
//	├── r1: n1 n2
//	└── r2: n3
func uplinkTopology(t *testing.T) *placement.Topology {
	tiers := placement.DefaultTiers("rack")
	tiers[placement.NodeTier].Bandwidth, tiers[placement.NodeTier+1].Bandwidth = 10, 20
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: tiers,
		Nodes: []placement.NodeSpec{
			{Name: "n1", Domains: []string{"r1"}, Free: []int64{8}},
			{Name: "n2", Domains: []string{"r1"}, Free: []int64{8}},
			{Name: "n3", Domains: []string{"r2"}, Free: []int64{8}},
		},
		Uplinks: []placement.Uplink{{Tier: placement.NodeTier, Path: "r2/n3", Bandwidth: 5}},
	})
	require.NoError(t, err)
	return topology
}

func TestUplinks(t *testing.T) {
	topology := uplinkTopology(t)
	// Nodes are 0 to 2; racks 3 and 4.
	assigned := func(nodes ...placement.NodeID) (list []placement.Assignment) {
		for i, node := range nodes {
			list = append(list, placement.Assignment{Index: i, Node: node})
		}
		return list
	}
	worker := func(pending int, gpus int64) placement.Role {
		role := placement.Role{Name: "worker", CommRole: placement.Worker, Request: []int64{gpus}}
		for i := range pending {
			role.Pending = append(role.Pending, i)
		}
		return role
	}
	server := placement.Role{Name: "ps", CommRole: placement.Server, Request: []int64{0}, Placed: []placement.Placed{{Node: 0}}}
	for name, c := range map[string]struct {
		demand placement.Demand
		nodes  []placement.NodeID
		want   []placement.UplinkLoad
	}{
		// Four ranks on a ring, two on n1 and two on n3: each edge carries 2 x 3/4 x 100 = 150 bytes, and one run of ranks
		// leaves each domain.
		"a ring over two racks": {
			demand: placement.Demand{Pattern: placement.Collective, ParameterBytes: 100, Roles: []placement.Role{worker(2, 2)}},
			nodes:  []placement.NodeID{0, 2},
			want: []placement.UplinkLoad{
				{Domain: 0, Bytes: 150, Seconds: 15}, {Domain: 2, Bytes: 150, Seconds: 30},
				{Domain: 3, Bytes: 150, Seconds: 7.5}, {Domain: 4, Bytes: 150, Seconds: 7.5},
			},
		},
		"a ring inside one rack leaves the rack's uplink alone": {
			demand: placement.Demand{Pattern: placement.Collective, ParameterBytes: 100, Roles: []placement.Role{worker(2, 1)}},
			nodes:  []placement.NodeID{0, 1},
			want:   []placement.UplinkLoad{{Domain: 0, Bytes: 100, Seconds: 10}, {Domain: 1, Bytes: 100, Seconds: 10}},
		},
		"all on one node": {
			demand: placement.Demand{Pattern: placement.Collective, Roles: []placement.Role{worker(2, 1)}},
			nodes:  []placement.NodeID{1, 1},
			want:   []placement.UplinkLoad{},
		},
		// One server on n1 already, workers on n2 and n3: each pulls and pushes 100 bytes.
		"a server that runs already": {
			demand: placement.Demand{Pattern: placement.ParameterServer, ParameterBytes: 100, Roles: []placement.Role{worker(2, 1), server}},
			nodes:  []placement.NodeID{1, 2},
			want: []placement.UplinkLoad{
				{Domain: 0, Bytes: 200, Seconds: 20}, {Domain: 1, Bytes: 100, Seconds: 10}, {Domain: 2, Bytes: 100, Seconds: 20},
				{Domain: 3, Bytes: 100, Seconds: 5}, {Domain: 4, Bytes: 100, Seconds: 5},
			},
		},
		"members that do not talk": {
			demand: placement.Demand{Pattern: placement.Single, Roles: []placement.Role{worker(2, 1)}},
			nodes:  []placement.NodeID{0, 2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			uplinks, err := placement.Uplinks(topology, &c.demand, assigned(c.nodes...))
			require.NoError(t, err)
			require.Equal(t, c.want, uplinks)
		})
	}
}

func TestUplinksSumToTheCost(t *testing.T) {
	topology := uplinkTopology(t)
	random := rand.New(rand.NewSource(1))
	for i := range 200 {
		d := placement.Demand{Pattern: placement.Pattern(random.Intn(4)), GroupSize: random.Intn(4)}
		var assignments []placement.Assignment
		for r, traffic := range []placement.CommRole{placement.Server, placement.Worker, placement.PipelineWorker} {
			role := placement.Role{Name: fmt.Sprint(traffic), CommRole: traffic, Stage: 1, Request: []int64{int64(random.Intn(3))}}
			for index := range random.Intn(5) {
				role.Pending = append(role.Pending, index)
				assignments = append(assignments, placement.Assignment{Role: r, Index: index, Node: placement.NodeID(random.Intn(3))})
			}
			d.Roles = append(d.Roles, role)
		}
		cost, err := placement.Evaluate(topology, &d, assignments)
		require.NoError(t, err)
		uplinks, err := placement.Uplinks(topology, &d, assignments)
		require.NoError(t, err)

		sums, busiest := make([]float64, len(cost.Tiers)), 0.0
		for _, uplink := range uplinks {
			sums[topology.TierOf(uplink.Domain)] += uplink.Bytes
			busiest = max(busiest, uplink.Seconds)
			if uplink.Domain == cost.BusiestUplink {
				require.InDelta(t, cost.BusiestSeconds, uplink.Seconds, 1e-9, "case %d", i)
			}
		}
		for tier := placement.NodeTier; tier < len(sums); tier++ {
			require.InDelta(t, cost.Tiers[tier].Bytes, sums[tier], 1e-9, "case %d, tier %d", i, tier)
		}
		if cost.BusiestUplink != placement.NoDomain {
			require.InDelta(t, cost.BusiestSeconds, busiest, 1e-9, "case %d", i)
		}
	}
}

func TestUplinksRefusesWhatDoesNotExist(t *testing.T) {
	topology := uplinkTopology(t)
	d := placement.Demand{Roles: []placement.Role{{Name: "worker", Request: []int64{0}, Pending: []int{0}}}}
	for name, c := range map[string]struct {
		assignments []placement.Assignment
		want        string
	}{
		"node":   {[]placement.Assignment{{Node: 3}}, "node 3 is not in the topology"},
		"member": {[]placement.Assignment{{Index: 1}}, `member 1 of role "worker" is not pending`},
	} {
		_, err := placement.Uplinks(topology, &d, c.assignments)
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := placement.Uplinks(topology, &placement.Demand{Pattern: 9}, nil)
	require.ErrorContains(t, err, "pattern 9 is not known")
}
