// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

func TestSmall(t *testing.T) {
	seen := map[string]int{}
	for index := range uint64(2000) {
		in := instances.Drawn(5, index, instances.Brute)
		require.LessOrEqual(t, in.Topology.Nodes(), instances.Brute.Nodes)
		require.LessOrEqual(t, in.Pods(), instances.Brute.Pods+2, "one of each role at least")
		plan, err := placement.Solve(in.Topology, in.Demand, in.Options)
		if err != nil {
			require.ErrorIs(t, err, placement.ErrNoFit, "instance %d is not valid\n%s", index, in)
		}
		d := in.Demand
		for what, yes := range map[string]bool{
			"fits": err == nil, "does not fit": err != nil, "some members do not fit": err == nil && len(plan.Left) > 0,
			"servers": d.Pattern == placement.ParameterServer, "ring": d.Pattern == placement.Collective, "heter": d.Pattern == placement.Pipeline,
			"two tiers above the node": len(in.Topology.Tiers()) == 4, "groups": d.Pattern == placement.Collective && d.GroupSize > 1,
			"highest tier": d.HighestTier > 0, "colocation": d.Colocation == placement.Required, "busiest first": in.Options.Objective == placement.BusiestFirst,
			"two accelerators": len(in.Spec.Accelerators) > 1,
			"placed":           slices.ContainsFunc(d.Roles, func(r placement.Role) bool { return len(r.Placed) > 0 }),
			"eligible":         slices.ContainsFunc(d.Roles, func(r placement.Role) bool { return r.Eligible != nil }),
			"penalty":          slices.ContainsFunc(d.Roles, func(r placement.Role) bool { return r.Penalty != nil }),
			"islands":          slices.ContainsFunc(in.Spec.Nodes, func(n placement.NodeSpec) bool { return len(n.Islands) > 1 }),
			"silent roles":     slices.ContainsFunc(d.Roles, func(r placement.Role) bool { return r.CommRole == placement.NoTraffic }),
		} {
			if yes {
				seen[what]++
			} else {
				seen[what] += 0
			}
		}
	}
	for what, times := range seen {
		require.Greater(t, times, 30, what)
	}
}

func TestOneSeedOneInstance(t *testing.T) {
	small := func(seed uint64) string { return instances.Drawn(seed, 9, instances.Brute).String() }
	first, second := small(5), small(5)
	require.Equal(t, first, second)
	require.NotEqual(t, small(5), small(6))
	cluster, same := instances.Cluster(5, 9), instances.Cluster(5, 9)
	require.Equal(t, cluster.Job(), same.Job())
	require.Equal(t, cluster.Load, same.Load) //nolint:testifylint // the same computation
}

func TestClustersAreLoadedAndTheJobFits(t *testing.T) {
	for index := range uint64(40) {
		in := instances.Cluster(5, index)
		require.GreaterOrEqual(t, in.Topology.Nodes(), 64)
		require.LessOrEqual(t, in.Topology.Nodes(), 512)
		require.Greater(t, in.Load, 0.25)
		require.Less(t, in.Load, 0.9)
		require.GreaterOrEqual(t, in.Pods(), 2)
		require.LessOrEqual(t, in.Pods(), 256)
	}
}

func TestFleet(t *testing.T) {
	fleet := instances.NewFleet(5, 1000, 32, 2)
	topology := fleet.Build()
	require.Equal(t, 1000, topology.Nodes())
	racks, end := topology.Domains(2)
	require.Equal(t, 32, int(end-racks))
	ids, keys := fleet.Keys(topology)
	require.Len(t, ids, 1000)
	require.Equal(t, topology.FreeGPUs(7), keys[7])
}
