// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

func TestKnapsackCoverIsTheCheapestSetOfNodes(test *testing.T) {
	covered := 0
	for seed := range int64(400) {
		random := rand.New(rand.NewSource(seed))
		free := make([]int64, 2+random.Intn(9))
		sum := 0
		for i := range free {
			free[i] = int64(random.Intn(6))
			sum += int(free[i])
		}
		t := placementtest.GPUTree(test, free...)
		if random.Intn(2) == 0 { // prices that do not grow with the tier
			for tier := range t.Weights() {
				t.Weights()[tier] = int64(random.Intn(5)) * tree.WeightUnit
			}
		}
		d := placementtest.RingOf(2+random.Intn(11), nil)
		b, _ := assignmentOf(t, d, Options{})
		ok := b.knapsackCover(t.Root(), len(t.Tiers()))
		require.Equal(test, sum >= len(d.Roles[0].Pending), ok, "seed %d", seed)
		if !ok {
			b.close()
			continue
		}
		covered++
		require.True(test, b.complete())
		nodes, counts := b.nodes()
		for i, n := range nodes {
			require.LessOrEqual(test, int64(counts[i]), free[n], "seed %d", seed)
		}
		// The least bytes of all ways to share the members out over the nodes.
		least := int64(impossible)
		count := make([]int32, len(free))
		var try func(n int, left int32)
		try = func(n int, left int32) {
			if n == len(free) {
				if left == 0 {
					least = min(least, ringBytes(b.p, count))
				}
				return
			}
			for c := int32(0); int64(c) <= free[n] && c <= left; c++ {
				count[n] = c
				try(n+1, left-c)
			}
			count[n] = 0
		}
		if len(free) < 7 {
			try(0, b.p.podClasses[0].count)
			require.Equal(test, least, b.value().bytes, "seed %d", seed)
		} else {
			var all []tree.NodeID
			for n := range tree.NodeID(t.Nodes()) {
				all = append(all, n)
			}
			counts, _ := newExact(b.p).solve(all)
			require.Equal(test, ringBytes(b.p, counts), b.value().bytes, "seed %d", seed)
		}
		b.close()
	}
	require.Greater(test, covered, 250)
}

// ringBytes of a ring with so many members on each node: two ends for each domain that holds some and not all.
func ringBytes(p *problem, counts []int32) (bytes int64) {
	t := p.t
	for d := range t.Root() {
		var held int32
		lo, hi := t.NodesOf(d)
		for n := lo; n < hi; n++ {
			held += counts[n]
		}
		price := t.Weights()[t.TierOf(d)]
		if t.TierOf(d) == tree.NodeTier {
			price += t.Weights()[tree.IslandTier]
		}
		if held > 0 && held < p.podClasses[0].count {
			bytes += 2 * price
		}
	}
	return bytes
}

func TestKnapsackCoverLeavesOtherJobsAlone(test *testing.T) {
	for name, change := range map[string]func(t *tree.Topology, d *gang.Demand, o *Options){
		"members that run": func(_ *tree.Topology, d *gang.Demand, _ *Options) {
			*d = *placementtest.RingOf(3, map[int]tree.NodeID{0: 0})
		},
		"parallel groups":        func(_ *tree.Topology, d *gang.Demand, _ *Options) { d.GroupSize = 2 },
		"servers":                func(_ *tree.Topology, d *gang.Demand, _ *Options) { d.Pattern = gang.ParameterServer },
		"the busiest link first": func(_ *tree.Topology, _ *gang.Demand, o *Options) { o.Objective = BusiestFirst },
		"no traffic":             func(_ *tree.Topology, d *gang.Demand, _ *Options) { d.Colocation = gang.None },
		"silent members":         func(_ *tree.Topology, d *gang.Demand, _ *Options) { d.Roles[0].CommRole = gang.NoTraffic },
		"two roles":              func(_ *tree.Topology, d *gang.Demand, _ *Options) { d.Roles = append(d.Roles, d.Roles[0]) },
	} {
		t := placementtest.GPUTree(test, 2, 2, 2)
		d, o := placementtest.RingOf(3, nil), Options{}
		change(t, d, &o)
		b, _ := assignmentOf(t, d, o)
		require.False(test, b.knapsackCover(t.Root(), len(t.Tiers())), name)
	}
}
