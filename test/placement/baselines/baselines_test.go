// SPDX-License-Identifier: Apache-2.0

package baselines_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/baselines"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// racks of nodes of 8 cpus and GPUs, with the numbers that are free.
//
//	rack a:  n0 3 free   n1 8 free      rack b:  n2 2 free   n3 4 free
func racks(t *testing.T) *instances.Loaded {
	t.Helper()
	spec := placement.TopologySpec{Resources: instances.Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack")}
	in := &instances.Loaded{}
	for i, free := range []int64{3, 8, 2, 4} {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{
			Name: "n" + string(rune('0'+i)), Domains: []string{[]string{"a", "b"}[i/2]}, Free: []int64{free, 100, free},
		})
		in.Capacity = append(in.Capacity, []int64{8, 100, 8})
	}
	var err error
	in.Topology, err = placement.NewTopology(spec)
	require.NoError(t, err)
	return in
}

func TestPlace(t *testing.T) {
	gpu := []int64{1, 0, 1}
	cases := []struct {
		baseline string
		demand   *placement.Demand
		want     []placement.NodeID
	}{
		// n2 is the fullest, then n0.
		{"most allocated node first", instances.Ring(5, gpu), []placement.NodeID{2, 2, 0, 0, 0}},
		// n1 is the emptiest until 4 are left, as on n3; then the lower name.
		{"spread", instances.Ring(6, gpu), []placement.NodeID{1, 1, 1, 1, 1, 3}},
		// The first of equal nodes, then the nearest that fits: three on n0, then n1 in its rack.
		{"greedy by cost", instances.Ring(5, gpu), []placement.NodeID{0, 0, 0, 1, 1}},
		// Servers see no workers yet; workers go to the servers while they fit.
		{"greedy by cost", instances.Servers(2, 3, []int64{1, 0, 0}, []int64{1, 0, 0}), []placement.NodeID{0, 0, 0, 1, 1}},
	}
	for _, c := range cases {
		t.Run(c.baseline, func(t *testing.T) {
			in := racks(t)
			in.Demand = c.demand
			plan, ok := named(t, c.baseline).Place(in, nil)
			require.True(t, ok)
			require.Equal(t, c.want, nodes(plan))
		})
	}
}

func named(t *testing.T, name string) baselines.Baseline {
	t.Helper()
	for _, b := range baselines.All() {
		if b.Name == name {
			return b
		}
	}
	require.FailNow(t, "no baseline "+name)
	return baselines.Baseline{}
}

func nodes(plan []placement.Assignment) []placement.NodeID {
	var nodes []placement.NodeID
	for _, a := range plan {
		nodes = append(nodes, a.Node)
	}
	return nodes
}

func TestNoCapacity(t *testing.T) {
	for _, b := range baselines.All() {
		in := racks(t)
		in.Demand = instances.Ring(18, []int64{1, 0, 1}) // 17 GPUs are free
		_, ok := b.Place(in, rand.New(rand.NewPCG(1, 1)))
		require.False(t, ok, b.Name)
	}
}

func TestPlansKeepCapacities(t *testing.T) {
	placed := map[string]int{}
	for index := range uint64(15) {
		in := instances.Cluster(3, index)
		for _, b := range baselines.All() {
			plan, ok := b.Place(in, rand.New(rand.NewPCG(1, index)))
			if !ok {
				continue
			}
			placed[b.Name]++
			require.NoError(t, legal.Check(in.Topology, in.Demand, plan), b.Name)
			require.NoError(t, legal.Check(in.Topology, in.Demand, baselines.Renumbered(plan)), b.Name)
		}
	}
	for _, b := range baselines.All() {
		require.Greater(t, placed[b.Name], 5, b.Name)
	}
}

func TestRenumbered(t *testing.T) {
	plan := []placement.Assignment{{Role: 0, Index: 0, Node: 5}, {Role: 0, Index: 3, Node: 1}, {Role: 1, Index: 0, Node: 4}, {Role: 1, Index: 1, Node: 2}}
	require.Equal(t, []placement.NodeID{1, 5, 2, 4}, nodes(baselines.Renumbered(plan)))
	require.Equal(t, []placement.NodeID{5, 1, 4, 2}, nodes(plan), "the plan itself stays")
}
