// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/diagnose"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// largeCluster has 10,000 nodes in 320 racks and 20 blocks; most GPUs are taken.
func largeCluster(t testing.TB) *placement.Topology {
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack", "block"),
	}
	for n := range 10000 {
		rack := n * 320 / 10000
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{
			Name: fmt.Sprintf("n%05d", n), Domains: []string{fmt.Sprintf("r%03d", rack), fmt.Sprintf("b%02d", rack/16)},
			Free: []int64{int64(8 + n*7919%64), int64(n * 104729 % 9)},
		})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}

func largeDemands() map[string]*placement.Demand {
	servers := placementtest.RoleOf("ps", placement.Server, 64, 8, 0)
	return map[string]*placement.Demand{
		"servers and workers in a rack": {
			Pattern: placement.ParameterServer, HighestTier: rackTier,
			Roles: []placement.Role{servers, placementtest.RoleOf("worker", placement.Worker, 512, 4, 1)},
		},
		"colocated": {
			Pattern: placement.ParameterServer, HighestTier: blockTier, Colocation: placement.Required,
			Roles: []placement.Role{servers, placementtest.RoleOf("worker", placement.Worker, 2048, 4, 1)},
		},
		"a ring that is too large": {
			Pattern: placement.Collective, Roles: []placement.Role{placementtest.RoleOf("worker", placement.Worker, 2048, 8, 8)},
		},
		"a ring in one block": {
			Pattern: placement.Collective, HighestTier: blockTier, Roles: []placement.Role{placementtest.RoleOf("worker", placement.Worker, 512, 8, 8)},
		},
	}
}

func TestDiagnoseALargeDemand(t *testing.T) {
	topology := largeCluster(t)
	for name, d := range largeDemands() {
		t.Run(name, func(t *testing.T) {
			e, err := placement.Diagnose(topology, d, placement.Options{})
			require.NoError(t, err)
			require.Nil(t, e.Plan)
			require.NotEmpty(t, e.Suggestions)
			require.LessOrEqual(t, e.Solves, diagnose.MaxSolves)
		})
	}
}

// TestATightJobOfParallelGroupsFits: whole groups leave a third of the GPUs free, and many nodes are needed for the rest.
func TestATightJobOfParallelGroupsFits(t *testing.T) {
	var nodes []string
	for n := range 100 {
		nodes = append(nodes, fmt.Sprintf("b%d/r%02d/n%03d 64 3", n/50, n/10, n))
	}
	topology := placementtest.ClusterOf(t, []string{"rack", "block"}, nodes...)
	d := &placement.Demand{Pattern: placement.Collective, GroupSize: 2, Roles: []placement.Role{placementtest.RoleOf("worker", placement.Worker, 300, 1, 1)}}
	plan, err := placement.Solve(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Len(t, plan.Assignments, 300)
}

func BenchmarkDiagnose(b *testing.B) {
	topology := largeCluster(b)
	for name, d := range largeDemands() {
		b.Run(name, func(b *testing.B) {
			solves := 0
			for b.Loop() {
				e, err := placement.Diagnose(topology, d, placement.Options{})
				require.NoError(b, err)
				solves = e.Solves
			}
			b.ReportMetric(float64(solves), "solves")
		})
	}
}
