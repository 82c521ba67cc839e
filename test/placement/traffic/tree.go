// SPDX-License-Identifier: Apache-2.0

// Package traffic is the arithmetic of costs once more, written for the tests: what a ring of ranks costs,
// rank by rank and back again. Nothing of the product's own cost is called.
package traffic

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// Tree is a topology as plain arrays.
type Tree struct {
	// Nodes and Domains are their numbers; domains are those without the root, nodes first. Tiers count the island's.
	Nodes, Domains, Tiers int
	// Up is the domain of a node at a tier. Closes are the domains, from the node upwards, whose last node it is.
	Up, Closes [][]int
	// TierOf a domain, Price of a tier, Width of a domain's uplink and of an island's.
	TierOf      []int
	Price       []float64
	Width       []float64
	IslandWidth float64
	// Free amounts and Islands of a node; none if it is one island.
	Free    [][]int64
	Islands [][]placement.Island
}

// NewTree copies a topology.
func NewTree(topology *placement.Topology) *Tree {
	t := &Tree{Nodes: topology.Nodes(), Domains: int(topology.Root()), Tiers: len(topology.Tiers()), IslandWidth: 1}
	for _, tier := range topology.Tiers() {
		t.Price = append(t.Price, tier.Price)
	}
	if width := topology.Tiers()[placement.IslandTier].Bandwidth; width > 0 {
		t.IslandWidth = width
	}
	for d := range t.Domains {
		t.TierOf = append(t.TierOf, topology.TierOf(placement.DomainID(d)))
		t.Width = append(t.Width, topology.Bandwidth(placement.DomainID(d)))
	}
	for n := range t.Nodes {
		up, closes := make([]int, t.Tiers), []int{}
		for tier := placement.NodeTier; tier < t.Tiers; tier++ {
			d := topology.Ancestor(placement.NodeID(n), tier)
			up[tier] = int(d)
			if _, end := topology.NodesOf(d); int(end) == n+1 {
				closes = append(closes, int(d))
			}
		}
		t.Up, t.Closes = append(t.Up, up), append(t.Closes, closes)
		t.Free = append(t.Free, append([]int64(nil), topology.Free(placement.DomainID(n))...))
		t.Islands = append(t.Islands, topology.Islands(placement.NodeID(n)))
	}
	return t
}

// Apart is the tier of the lowest domain that holds both nodes.
func (t *Tree) Apart(a, b int) int {
	tier := placement.NodeTier
	for tier < t.Tiers && t.Up[a][tier] != t.Up[b][tier] {
		tier++
	}
	return tier
}

// Fits is how many pods of a request a node with so much free has room for, up to a number.
func Fits(free, request []int64, most int) int {
	for c, amount := range request {
		if amount > 0 {
			most = min(most, int(max(0, free[c])/amount))
		}
	}
	return most
}

// Take takes pods of a request, or gives them back if below 0.
func Take(free, request []int64, pods int) {
	for c, amount := range request {
		free[c] -= amount * int64(pods)
	}
}

// Bytes of a job's parameters.
func Bytes(d *placement.Demand) float64 {
	if d.ParameterBytes == 0 {
		return 1
	}
	return d.ParameterBytes
}
