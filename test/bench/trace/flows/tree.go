// SPDX-License-Identifier: Apache-2.0

package flows

import "slices"

// Tiers of links: hosts have NICs, racks and blocks have uplinks. The core is not blocked.
const (
	NIC = iota
	Rack
	Block
	Tiers
)

// Network is a tree of hosts, racks and blocks. Each has two links, one up and one down, of the same width.
type Network struct {
	// Widths of the links in bytes per second, by link.
	Widths []float64
	tiers  []int
	above  [][Tiers]int32 // the host, the rack and the block of each host, as numbers of domains
}

// NewNetwork creates the network of hosts in these racks and blocks. Bandwidths are those of one direction, by tier.
func NewNetwork(racks, blocks []string, bandwidths [Tiers]float64) *Network {
	n := &Network{above: make([][Tiers]int32, len(racks))}
	domain := func(tier int) int32 {
		n.Widths = append(n.Widths, bandwidths[tier], bandwidths[tier])
		n.tiers = append(n.tiers, tier, tier)
		return int32(len(n.Widths)/2 - 1)
	}
	known := [Tiers]map[string]int32{Rack: {}, Block: {}}
	for host := range racks {
		n.above[host][NIC] = domain(NIC)
		for tier, name := range [Tiers]string{Rack: racks[host], Block: blocks[host]} {
			if tier == NIC {
				continue
			}
			if _, ok := known[tier][name]; !ok {
				known[tier][name] = domain(tier)
			}
			n.above[host][tier] = known[tier][name]
		}
	}
	return n
}

// TierOf returns the tier of a link.
func (n *Network) TierOf(link int32) int { return n.tiers[link] }

// Up reports whether a link leads up, out of its domain.
func Up(link int32) bool { return link%2 == 0 }

// path returns the links from one host to another: up to the lowest domain that holds both, and down again.
func (n *Network) path(from, to int) []int32 {
	var up, down []int32
	for tier := NIC; tier < Tiers && n.above[from][tier] != n.above[to][tier]; tier++ {
		up = append(up, 2*n.above[from][tier])
		down = append(down, 2*n.above[to][tier]+1)
	}
	slices.Reverse(down)
	return append(up, down...)
}
