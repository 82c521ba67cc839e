// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// ringCase is a ring of random roles on a random small cluster, some of them running.
func ringCase(seed int64) (*tree.Topology, *gang.Demand, *rand.Rand) {
	t, d, _ := tightCase(seed)
	random := rand.New(rand.NewSource(seed))
	d.Pattern = gang.Collective
	if random.Intn(2) == 0 {
		degree := func() int { return 1 + random.Intn(3) }
		d.Parallelism = gang.Parallelism{Pipeline: degree(), Sharding: degree(), Sep: degree(), Tensor: degree(), Expert: degree(), ShardingFirst: seed%3 == 0}
	}
	gpus := random.Intn(2) // all with GPUs or all without
	for r := range d.Roles {
		d.Roles[r].CommRole = gang.Worker
		d.Roles[r].Request[1] = int64(gpus * (1 + random.Intn(3)))
	}
	return t, d, random
}

// TestRingPodsCountWhatEvaluateCounts holds the two counts of a ring together, rank by rank.
func TestRingPodsCountWhatEvaluateCounts(test *testing.T) {
	priced := 0
	for seed := range int64(500) {
		t, d, random := ringCase(seed)
		b, ok := assignmentOf(t, d, Options{})
		p := b.p
		b.close()
		if !ok || p.unit == 0 || d.Colocation == gang.None {
			continue
		}
		pods := newRingPods(p)
		nodes := make([]tree.NodeID, len(pods.pods))
		var assignments []gang.Assignment
		for i, pod := range pods.pods {
			if nodes[i] = pod.node; pod.node < 0 {
				nodes[i] = tree.NodeID(random.Intn(t.Nodes()))
				assignments = append(assignments, gang.Assignment{Role: pod.role, Index: pod.index, Node: nodes[i]})
			}
		}
		cost, err := traffic.Evaluate(t, d, assignments)
		require.NoError(test, err)
		for range 2 { // the first value leaves nothing behind
			v := pods.value(nodes)
			require.InDelta(test, cost.WeightedBytes, float64(v.bytes)*p.unit/tree.WeightUnit, 1e-6, "seed %d", seed)
			require.InDelta(test, cost.BusiestSeconds, v.busy, 1e-9, "seed %d", seed)
			require.Equal(test, cost.Penalty, v.penalty, "seed %d", seed)
		}
		if cost.WeightedBytes > 0 {
			priced++
		}
	}
	require.Greater(test, priced, 200)
}

// TestCountsGiveTheCostOfARing: so many members of each gap on each node cost what the order costs that assign gives them.
func TestCountsGiveTheCostOfARing(test *testing.T) {
	for seed := range int64(400) {
		random := rand.New(rand.NewSource(seed))
		t := placementtest.GPUTree(test, make([]int64, 2+random.Intn(9))...)
		runs := map[int]tree.NodeID{}
		members := 2 + random.Intn(9)
		for range random.Intn(4) {
			runs[random.Intn(members)] = tree.NodeID(random.Intn(t.Nodes()))
		}
		d := placementtest.RingOf(members, runs)
		b, ok := assignmentOf(t, d, Options{})
		if !ok {
			b.close()
			continue
		}
		for k := range b.podClasses {
			for b.waiting[k] > 0 {
				b.add(tree.NodeID(random.Intn(t.Nodes())), k, 1)
			}
		}
		nodes, counts := b.nodes()
		cost, err := traffic.Evaluate(t, d, b.p.assign(nodes, counts))
		require.NoError(test, err)
		require.InDelta(test, float64(b.value().bytes)*b.p.unit/tree.WeightUnit, cost.WeightedBytes, 1e-6, "seed %d", seed)
		require.InDelta(test, b.value().busy, cost.BusiestSeconds, 1e-9, "seed %d", seed)
		b.close()
	}
}
