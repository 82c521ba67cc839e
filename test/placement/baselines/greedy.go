// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// greedy knows the cost: each pod goes where it adds least to the sum of price times bytes. Ties end in the lower name.
func greedy(in *instances.Loaded, _ [][]int64, _ *rand.Rand) chooser {
	tree := newTree(in.Topology)
	if in.Demand.Pattern == placement.Collective {
		return greedyRing(in, tree)
	}
	return greedyServers(in, tree)
}

// tree is the price of each tier, and the domain of each node at each tier.
type tree struct {
	price []float64
	up    [][]placement.DomainID
}

func newTree(t *placement.Topology) *tree {
	tree := &tree{}
	for _, tier := range t.Tiers() {
		tree.price = append(tree.price, tier.Weight)
	}
	for n := range t.Nodes() {
		up := make([]placement.DomainID, len(tree.price))
		for tier := placement.NodeTier; tier < len(up); tier++ {
			up[tier] = t.Ancestor(placement.NodeID(n), tier)
		}
		tree.up = append(tree.up, up)
	}
	return tree
}

// greedyServers adds up p_v (W - w_v) + w_v (P - p_v) over the domains v that a pod is in, with the P and W of the whole
// job: one more server adds W - 2 w_v, one more worker P - 2 p_v.
func greedyServers(in *instances.Loaded, tree *tree) chooser {
	total := [2]int{len(in.Demand.Roles[0].Pending), len(in.Demand.Roles[1].Pending)}
	held := [2]map[placement.DomainID]int{{}, {}}
	return func(role int, nodes []int) int {
		other := 1 - role
		chosen := best(in, nodes, func(n int) float64 {
			sum := 0.0
			for tier := placement.NodeTier; tier < len(tree.price); tier++ {
				sum += tree.price[tier] * float64(total[other]-2*held[other][tree.up[n][tier]])
			}
			return sum
		})
		for tier := placement.NodeTier; tier < len(tree.price); tier++ {
			held[role][tree.up[chosen][tier]]++
		}
		return chosen
	}
}

// edge returns the price of one edge of a ring between two nodes, which is one between two islands too.
func (t *tree) edge(a, b int) (price float64) {
	if a != b {
		price = t.price[placement.IslandTier]
	}
	for tier := placement.NodeTier; tier < len(t.price) && t.up[a][tier] != t.up[b][tier]; tier++ {
		price += t.price[tier]
	}
	return price
}

// greedyRing adds up the edges that a pod has if the ring, and its parallel group, end with it.
func greedyRing(in *instances.Loaded, tree *tree) chooser {
	var ranks []int // node of each
	group := max(1, in.Demand.GroupSize)
	return func(role int, nodes []int) int {
		next := len(ranks)
		chosen := best(in, nodes, func(n int) float64 {
			if next == 0 {
				return 0
			}
			cost := tree.edge(ranks[next-1], n) + tree.edge(n, ranks[0])
			if next%group > 0 {
				cost += traffic.GroupWeight * (tree.edge(ranks[next-1], n) + tree.edge(n, ranks[next-next%group]))
			}
			return cost
		})
		for range max(1, in.Topology.GPUs(in.Demand.Roles[role].Request)) {
			ranks = append(ranks, chosen)
		}
		return chosen
	}
}
