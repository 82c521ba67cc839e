// SPDX-License-Identifier: Apache-2.0

package instances

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// Sizes of small instances, which brute force can still solve.
const (
	MinNodes = 2
	MaxNodes = 8
	MaxPods  = 10
)

// Small draws a job of 2 to 10 pods on 2 to 8 nodes of unequal free capacity, in 2 or 3 tiers above the islands.
//
// Three of five have capacities built around a hidden placement, so that they fit, often only just; the others have
// random capacities and may not fit at all. A third have members that are placed already.
func Small(seed, index uint64) *Instance {
	rng := source(seed, index)
	s := &small{Rand: rng, in: &Instance{}}
	s.tree()
	s.job()
	s.place()
	s.limit()
	s.capacity()
	s.islands()
	s.finish()
	return s.in
}

// small is one instance while it is drawn.
type small struct {
	*rand.Rand
	in   *Instance
	spec placement.TopologySpec
	// order is the topology without capacities; it tells which node is which id.
	order *placement.Topology
	// free and islands by node id.
	free    [][]int64
	islandz [][]placement.Island
	home    placement.DomainID // all placed and planted members are in it
}

func (s *small) tree() {
	n := MinNodes + max(s.IntN(MaxNodes-MinNodes+1), s.IntN(MaxNodes-MinNodes+1)) // more of the large ones
	racks, blocks := 1+s.IntN(min(n, 4)), 0
	above := []string{"rack"}
	if chance(s.Rand, 0.5) {
		above = append(above, "block")
		blocks = 1 + s.IntN(3)
	}
	spec := placement.TopologySpec{Resources: Resources(), Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers(above...)}
	blockOf := make([]int, racks)
	for r := range blockOf {
		blockOf[r] = s.IntN(max(1, blocks))
	}
	for i := range n {
		rack := s.IntN(racks)
		domains := []string{fmt.Sprintf("r%d", rack)}
		if blocks > 0 {
			domains = append(domains, fmt.Sprintf("b%d", blockOf[rack]))
		}
		if chance(s.Rand, 0.02) {
			domains[0] = ""
		}
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: fmt.Sprintf("n%d", i), Domains: domains, Free: make([]int64, columns)})
	}
	s.links(&spec)
	s.spec = spec
	s.order = build(spec)
	s.free = make([][]int64, n)
	s.islandz = make([][]placement.Island, n)
	for i := range s.free {
		s.free[i] = make([]int64, columns)
	}
	s.home = s.order.Root()
}

// links sets prices and bandwidths. Prices are fractions of a power of two, so that sums of them are exact.
func (s *small) links(spec *placement.TopologySpec) {
	names := []string{"island", "node", "rack", "block"}[:len(spec.Tiers)]
	if chance(s.Rand, 0.2) {
		for i := range spec.Tiers {
			spec.Tiers[i].Price = pick(s.Rand, 0, 0.25, 0.5, 1, 2, 4, 10, 16)
		}
		if chance(s.Rand, 0.8) { // prices that do not grow with the tier are odd, and allowed
			slices.SortFunc(spec.Tiers, func(a, b placement.Tier) int { return cmp.Compare(a.Price, b.Price) })
			for i, name := range names {
				spec.Tiers[i].Name = name
			}
		}
	}
	if chance(s.Rand, 0.4) {
		for i := range spec.Tiers {
			spec.Tiers[i].Bandwidth = pick(s.Rand, 1.0, 2, 4, 8)
		}
	}
	if !chance(s.Rand, 0.2) {
		return
	}
	t := build(*spec)
	for d := placement.DomainID(0); d < t.Root(); d++ {
		if chance(s.Rand, 0.3) {
			spec.Uplinks = append(spec.Uplinks, placement.Uplink{Tier: t.TierOf(d), Path: t.DomainName(d), Bandwidth: pick(s.Rand, 0.5, 1.0, 2, 3)})
		}
	}
}

func build(spec placement.TopologySpec) *placement.Topology {
	t, err := placement.NewTopology(spec)
	if err != nil {
		panic(fmt.Errorf("a drawn topology is not valid: %w", err))
	}
	return t
}

// finish builds what was drawn.
func (s *small) finish() {
	for i := range s.spec.Nodes {
		id, _ := s.order.Node(s.spec.Nodes[i].Name)
		s.spec.Nodes[i].Free = s.free[id]
		s.spec.Nodes[i].Islands = s.islandz[id]
	}
	s.in.Topology = build(s.spec)
	if chance(s.Rand, 0.25) {
		s.in.Options.Objective = placement.BusiestFirst
	}
}
