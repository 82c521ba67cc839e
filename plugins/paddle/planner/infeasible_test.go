// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// gpuRacks is a topology of racks r0, r1, ... with nodes r0n0, r0n1, ... that have so many GPUs free.
func gpuRacks(t *testing.T, racks ...[]int64) *placement.Topology {
	t.Helper()
	spec := placement.TopologySpec{
		Resources: []string{"nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack"),
	}
	for r, nodes := range racks {
		for n, free := range nodes {
			spec.Nodes = append(spec.Nodes, placement.NodeSpec{
				Name: fmt.Sprintf("r%dn%d", r, n), Domains: []string{fmt.Sprintf("r%d", r)}, Free: []int64{free},
			})
		}
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

//	r0              r1
//
// n0: 3  n1: 1    n0: 2  n1: 2      GPUs free
func TestProvablyInfeasible(t *testing.T) {
	topology := gpuRacks(t, []int64{3, 1}, []int64{2, 2})
	only := placement.NewNodeSet(topology)
	only.Add(0)
	role := func(gpus int64, minimum int) placement.Role {
		return placement.Role{Request: []int64{gpus}, Minimum: minimum}
	}
	for _, test := range []struct {
		name   string
		demand placement.Demand
		want   bool
	}{
		{"all there is", placement.Demand{Roles: []placement.Role{role(1, 8)}}, false},
		{"one too many", placement.Demand{Roles: []placement.Role{role(1, 9)}}, true},
		{"pairs", placement.Demand{Roles: []placement.Role{role(2, 3)}}, false},
		{"a pair too many", placement.Demand{Roles: []placement.Role{role(2, 4)}}, true},
		{"a rack", placement.Demand{HighestTier: 2, Roles: []placement.Role{role(1, 4)}}, false},
		{"more than a rack", placement.Demand{HighestTier: 2, Roles: []placement.Role{role(1, 5)}}, true},
		{"a node", placement.Demand{HighestTier: 1, Roles: []placement.Role{role(1, 3)}}, false},
		{"roles together", placement.Demand{Roles: []placement.Role{role(1, 4), role(1, 4)}}, false},
		{"one too many of all roles", placement.Demand{Roles: []placement.Role{role(1, 4), role(1, 5)}}, true},
		{"how roles share a node is not looked at", placement.Demand{Roles: []placement.Role{role(3, 1), role(2, 2), role(1, 1)}}, false},
		{"no servers in reach", placement.Demand{Colocation: placement.Required, Roles: []placement.Role{role(1, 1)}}, true},
		{"the second role", placement.Demand{Roles: []placement.Role{role(1, 1), role(4, 1)}}, true},
		{"eligible nodes", placement.Demand{Roles: []placement.Role{{Request: []int64{1}, Minimum: 4, Eligible: only}}}, true},
		{"eligible nodes that hold them", placement.Demand{Roles: []placement.Role{{Request: []int64{1}, Minimum: 3, Eligible: only}}}, false},
		{"members that run count", placement.Demand{Roles: []placement.Role{
			{Request: []int64{2}, Minimum: 4, Placed: []placement.Placed{{Index: 0, Node: 3}}},
		}}, false},
		{"members that run are where they are", placement.Demand{HighestTier: 2, Roles: []placement.Role{
			{Request: []int64{3}, Minimum: 2, Placed: []placement.Placed{{Index: 0, Node: 3}}},
		}}, true},
		{"nothing requested", placement.Demand{Roles: []placement.Role{role(0, 100)}}, false},
	} {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, provablyInfeasible(topology, &test.demand, true)) })
	}

	beside := placement.Demand{Colocation: placement.Required, Roles: []placement.Role{role(1, 1)}}
	require.False(t, provablyInfeasible(topology, &beside, false), "the plan left out nodes that are maybe eligible")
}
