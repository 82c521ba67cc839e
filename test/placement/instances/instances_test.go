// SPDX-License-Identifier: Apache-2.0

package instances_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

func TestSmallDrawsEveryKindOfJob(t *testing.T) {
	seen := map[string]int{}
	for index := range uint64(2000) {
		in := instances.Small(5, index)
		require.LessOrEqual(t, in.Pods(), instances.MaxPods)
		require.GreaterOrEqual(t, in.Topology.Nodes(), instances.MinNodes)
		require.LessOrEqual(t, in.Topology.Nodes(), instances.MaxNodes)
		_, err := placement.Solve(in.Topology, in.Demand, in.Options)
		if err != nil {
			require.ErrorIs(t, err, placement.ErrNoFit, "instance %d is not valid", index)
		}
		d := in.Demand
		seen["collective"] += one(d.Pattern == placement.Collective)
		seen["three tiers above islands"] += one(len(in.Topology.Tiers()) == 4)
		seen["groups"] += one(d.GroupSize > 1)
		seen["highest tier"] += one(d.HighestTier > 0)
		seen["colocation"] += one(d.Colocation == placement.Required)
		seen["busiest first"] += one(in.Options.Objective == placement.BusiestFirst)
		for r := range d.Roles {
			seen["placed"] += one(len(d.Roles[r].Placed) > 0)
			seen["eligible"] += one(d.Roles[r].Eligible != nil)
			seen["fewer than all"] += one(d.Roles[r].Minimum < len(d.Roles[r].Pending))
		}
		for n := range in.Topology.Nodes() {
			seen["islands"] += one(len(in.Topology.Islands(placement.NodeID(n))) > 1)
		}
	}
	for _, what := range []string{
		"collective", "three tiers above islands", "groups", "highest tier", "colocation", "busiest first", "placed",
		"eligible", "fewer than all", "islands",
	} {
		require.Greater(t, seen[what], 50, what)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func TestOneSeedOneInstance(t *testing.T) {
	one, again := instances.Small(5, 9), instances.Small(5, 9)
	require.Equal(t, one.String(), again.String())
	require.NotEqual(t, instances.Small(5, 9).String(), instances.Small(6, 9).String())
	cluster, same := instances.Cluster(5, 9), instances.Cluster(5, 9)
	require.Equal(t, cluster.String(), same.String())
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
