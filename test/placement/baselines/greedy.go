// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/traffic"
)

// greedy knows the cost: each pod goes where it adds least to the sum of price times bytes. Ties end in the lower name.
func greedy(in *instances.Loaded, _ [][]int64, _ *rand.Rand) chooser {
	tree := traffic.NewTree(in.Topology)
	if in.Demand.Pattern == placement.Collective {
		return greedyRing(in, tree)
	}
	return greedyServers(in, tree)
}

// greedyServers adds up p_v (W - w_v) + w_v (P - p_v) over the domains v that a pod is in, with the P and W of the whole
// job: one more server adds W - 2 w_v, one more worker P - 2 p_v.
func greedyServers(in *instances.Loaded, tree *traffic.Tree) chooser {
	total := [2]int{len(in.Demand.Roles[0].Pending), len(in.Demand.Roles[1].Pending)}
	held := [2][]int{make([]int, tree.Domains), make([]int, tree.Domains)}
	return func(role int, nodes []int) int {
		other := 1 - role
		chosen := best(in, nodes, func(n int) float64 {
			sum := 0.0
			for tier := placement.NodeTier; tier < tree.Tiers; tier++ {
				sum += tree.Price[tier] * float64(total[other]-2*held[other][tree.Up[n][tier]])
			}
			return sum
		})
		for tier := placement.NodeTier; tier < tree.Tiers; tier++ {
			held[role][tree.Up[chosen][tier]]++
		}
		return chosen
	}
}

// greedyRing closes the ring after each pod to see what it costs.
func greedyRing(in *instances.Loaded, tree *traffic.Tree) chooser {
	ring := traffic.NewRing(tree, in.Demand)
	return func(role int, nodes []int) int {
		gpus := traffic.GPUs(in.Demand.Roles[role].Request)
		chosen := best(in, nodes, func(n int) float64 {
			pod := ring.Pod(n, gpus, false)
			end := ring.Close()
			cost := ring.Priced
			ring.Undo(end)
			ring.Undo(pod)
			return cost
		})
		ring.Pod(chosen, gpus, false)
		return chosen
	}
}
