// SPDX-License-Identifier: Apache-2.0

// Package baselines places jobs as other schedulers do, for comparison. It calls no code of the planner.
package baselines

import (
	"math/rand/v2"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Baseline is one way to place a job pod by pod: roles in their order (servers first), members by index.
type Baseline struct {
	Name string
	// start returns the chooser of one job.
	start func(in *instances.Loaded, free [][]int64, rng *rand.Rand) chooser
}

// chooser returns one of the feasible nodes for the next pod of a role. There is at least one, and they are in the order of the tree.
type chooser func(role int, nodes []int) int

// All returns all baselines.
func All() []Baseline {
	return []Baseline{
		{"random fitting node", random},
		{"most allocated node first", func(in *instances.Loaded, free [][]int64, _ *rand.Rand) chooser { return byAllocation(in, free, 1) }},
		{"spread", func(in *instances.Loaded, free [][]int64, _ *rand.Rand) chooser { return byAllocation(in, free, -1) }},
		{"greedy by cost", greedy},
	}
}

// Place places a job; ok is false if a pod fits no node, because no placed pod is moved.
func (b Baseline) Place(in *instances.Loaded, rng *rand.Rand) (plan []placement.Assignment, ok bool) {
	free := make([][]int64, in.Topology.Nodes())
	for n := range free {
		free[n] = slices.Clone(in.Topology.Free(placement.DomainID(n)))
	}
	next := b.start(in, free, rng)
	for r := range in.Demand.Roles {
		role := &in.Demand.Roles[r]
		for _, index := range role.Pending {
			var nodes []int
			for n := range free {
				if instances.Fits(free[n], role.Request, 1) == 1 {
					nodes = append(nodes, n)
				}
			}
			if len(nodes) == 0 {
				return nil, false
			}
			node := next(r, nodes)
			for c, amount := range role.Request {
				free[node][c] -= amount
			}
			plan = append(plan, placement.Assignment{Role: r, Index: index, Node: placement.NodeID(node)})
		}
	}
	return plan, true
}

func random(_ *instances.Loaded, _ [][]int64, rng *rand.Rand) chooser {
	return func(_ int, nodes []int) int { return nodes[rng.IntN(len(nodes))] }
}

// byAllocation takes the node whose resources, with the pod on it, are allocated most (sign 1) or least (sign -1): the
// mean over the resources of the share that is taken. Ties end in the lower name.
func byAllocation(in *instances.Loaded, free [][]int64, sign float64) chooser {
	return func(role int, nodes []int) int {
		request := in.Demand.Roles[role].Request
		score := func(n int) float64 {
			sum := 0.0
			for c, capacity := range in.Capacity[n] {
				if capacity > 0 {
					sum += float64(capacity-free[n][c]+request[c]) / float64(capacity)
				}
			}
			return sign * sum
		}
		return best(in, nodes, func(n int) float64 { return -score(n) })
	}
}

// best returns the node of the least cost, then of the least name.
func best(in *instances.Loaded, nodes []int, cost func(n int) float64) int {
	chosen, least := -1, 0.0
	for _, n := range nodes {
		c := cost(n)
		if chosen < 0 || c < least || c == least && in.Topology.NodeName(placement.NodeID(n)) < in.Topology.NodeName(placement.NodeID(chosen)) {
			chosen, least = n, c
		}
	}
	return chosen
}

// Renumbered returns the same plan with the members of each role in index order along the tree.
func Renumbered(plan []placement.Assignment) []placement.Assignment {
	renumbered := slices.Clone(plan)
	for lo := 0; lo < len(plan); {
		hi := lo
		for hi < len(plan) && plan[hi].Role == plan[lo].Role {
			hi++
		}
		nodes := make([]placement.NodeID, 0, hi-lo)
		for _, a := range plan[lo:hi] {
			nodes = append(nodes, a.Node)
		}
		slices.Sort(nodes)
		for i, node := range nodes {
			renumbered[lo+i].Node = node
		}
		lo = hi
	}
	return renumbered
}
