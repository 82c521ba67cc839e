// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// harmTopology has free cpu and GPUs as written.
//
//	cluster
//	├── r1: n1 (16 cpu, 8 GPUs)  n2 (16, 3)
//	└── r2: n3 (1, 4)            n4 (16, 1)
func harmTopology(t *testing.T) *placement.Topology {
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack"),
		Nodes: []placement.NodeSpec{
			{Name: "n1", Domains: []string{"r1"}, Free: []int64{16, 8}},
			{Name: "n2", Domains: []string{"r1"}, Free: []int64{16, 3}},
			{Name: "n3", Domains: []string{"r2"}, Free: []int64{1, 4}},
			{Name: "n4", Domains: []string{"r2"}, Free: []int64{16, 1}},
		},
	})
	require.NoError(t, err)
	return topology
}

func TestGangFragmentation(t *testing.T) {
	const node, rack, cluster = placement.NodeTier, placement.NodeTier + 1, placement.NodeTier + 2
	gpu := []int64{0, 1}
	for _, c := range []struct {
		name    string
		tier    int
		request []int64
		gang    int
		want    float64
	}{
		// Nodes hold 8, 3, 4 and 1 pods of one GPU, 16 in all.
		{"gangs of 4 in a node: 8 + 0 + 4 + 0 of 16", node, gpu, 4, 1 - 12.0/16},
		// Racks hold 11 and 5.
		{"gangs of 4 in a rack: 8 + 4 of 16", rack, gpu, 4, 1 - 12.0/16},
		{"gangs of 8 in a rack: 8 + 0 of 16", rack, gpu, 8, 1 - 8.0/16},
		{"gangs of 8 in the cluster: 16 of 16", cluster, gpu, 8, 0},
		{"gangs of 12 in a rack: none", rack, gpu, 12, 1},
		{"gangs of one pod leave nothing", node, gpu, 1, 0},
		// Pods of 2 GPUs: nodes hold 4, 1, 2 and 0, racks 5 and 2.
		{"gangs of 2 pods of 2 GPUs in a rack: 4 + 2 of 7", rack, []int64{0, 2}, 2, 1 - 6.0/7},
		// Pods of 2 cpu and one GPU: nodes hold 8, 3, 0 and 1, racks 11 and 1.
		{"what lacks cpu is not free: 8 + 0 of 12", rack, []int64{2, 1}, 8, 1 - 8.0/12},
		{"nothing fits", rack, []int64{0, 9}, 2, 0},
		{"nothing is asked for", rack, []int64{0, 0}, 2, 0},
		{"a gang below one pod is one pod", rack, gpu, 0, 0},
		{"a tier below the nodes is the nodes", 0, gpu, 4, 1 - 12.0/16},
		{"a tier above the cluster is the cluster", 9, gpu, 12, 1 - 12.0/16},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InDelta(t, c.want, placement.GangFragmentation(harmTopology(t), c.tier, c.request, c.gang), 1e-12)
		})
	}
}

func TestClassFragmentation(t *testing.T) {
	small := placement.JobClass{Request: []int64{1, 1}, Popularity: 3}
	for _, c := range []struct {
		name    string
		classes []placement.JobClass
		want    float64
	}{
		{"everything can use all GPUs", []placement.JobClass{small}, 0},
		// 4 GPUs or more are on n1 and n3, but n3 has one cpu: of 16 GPUs, 8 are of no use.
		{"half of the GPUs are of no use", []placement.JobClass{{Request: []int64{2, 4}, Popularity: 0.5}}, 8.0 / 16},
		{"the rest after whole pods is no waste", []placement.JobClass{{Request: []int64{2, 5}, Popularity: 1}}, 8.0 / 16},
		{"weighed by popularity", []placement.JobClass{small, {Request: []int64{2, 4}, Popularity: 1}}, 0.25 * 8 / 16},
		{"too large for all", []placement.JobClass{{Request: []int64{0, 9}, Popularity: 1}}, 1},
		{"a class without GPUs uses none", []placement.JobClass{small, {Request: []int64{1, 0}, Popularity: 1}}, 0.25},
		{"an unpopular class does not count", []placement.JobClass{small, {Request: []int64{0, 9}}}, 0},
		{"no classes", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InDelta(t, c.want, placement.ClassFragmentation(harmTopology(t), c.classes), 1e-12)
		})
	}
}

func TestHarmFollowsWhatIsTaken(t *testing.T) {
	topology := harmTopology(t)
	class := []placement.JobClass{{Request: []int64{0, 4}, Popularity: 1}}
	node, _ := topology.Node("n1")
	require.InDelta(t, 4.0/16, placement.ClassFragmentation(topology, class), 1e-12)
	require.InDelta(t, 4.0/16, placement.GangFragmentation(topology, placement.NodeTier, []int64{0, 1}, 4), 1e-12)

	_, err := topology.Take(node, []int64{0, 5})
	require.NoError(t, err)

	// 3, 3, 4 and 1 are left: only n3's four are of use.
	require.InDelta(t, 7.0/11, placement.ClassFragmentation(topology, class), 1e-12)
	require.InDelta(t, 7.0/11, placement.GangFragmentation(topology, placement.NodeTier, []int64{0, 1}, 4), 1e-12)
}

func TestHarmOfAFullCluster(t *testing.T) {
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers(),
		Nodes: []placement.NodeSpec{{Name: "n1", Free: []int64{0}}, {Name: "n2", Free: []int64{-2}}},
	})
	require.NoError(t, err)
	require.Zero(t, placement.GangFragmentation(topology, placement.NodeTier, []int64{1}, 2))
	require.Zero(t, placement.ClassFragmentation(topology, []placement.JobClass{{Request: []int64{1}, Popularity: 1}}))
}

func TestHarmRefusesWhatDoesNotMatch(t *testing.T) {
	topology := harmTopology(t)
	require.True(t, math.IsNaN(placement.GangFragmentation(topology, placement.NodeTier, []int64{1}, 2)))
	for i, class := range []placement.JobClass{
		{Request: []int64{1}, Popularity: 1},
		{Request: []int64{0, 1}, Popularity: -1},
		{Request: []int64{0, 1}, Popularity: math.NaN()},
		{Request: []int64{0, 1}, Popularity: math.Inf(1)},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			require.True(t, math.IsNaN(placement.ClassFragmentation(topology, []placement.JobClass{class})))
		})
	}
}
