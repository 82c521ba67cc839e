// SPDX-License-Identifier: Apache-2.0

package bruteforce

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// tree is a topology as plain arrays.
type tree struct {
	nodes, domains int // domains without the root; nodes come first
	tiers          int // island, node, ...
	up             [][]int
	closes         [][]int // domains, from the node upwards, whose last node this is
	tierOf         []int
	price          []float64
	width          []float64 // of uplinks by domain
	islandWidth    float64
	free           [][]int64
	islands        [][]placement.Island
}

func newTree(in *instances.Instance) *tree {
	topology := in.Topology
	t := &tree{nodes: topology.Nodes(), domains: int(topology.Root()), tiers: len(topology.Tiers()), islandWidth: 1}
	for _, tier := range topology.Tiers() {
		t.price = append(t.price, tier.Price)
	}
	if width := topology.Tiers()[placement.IslandTier].Bandwidth; width > 0 {
		t.islandWidth = width
	}
	for d := range t.domains {
		t.tierOf = append(t.tierOf, topology.TierOf(placement.DomainID(d)))
		t.width = append(t.width, topology.Bandwidth(placement.DomainID(d)))
	}
	for n := range t.nodes {
		up, closes := make([]int, t.tiers), []int{}
		for tier := placement.NodeTier; tier < t.tiers; tier++ {
			d := topology.Ancestor(placement.NodeID(n), tier)
			up[tier] = int(d)
			if _, end := topology.NodesOf(d); int(end) == n+1 {
				closes = append(closes, int(d))
			}
		}
		t.up, t.closes = append(t.up, up), append(t.closes, closes)
		t.free = append(t.free, append([]int64(nil), topology.Free(placement.DomainID(n))...))
		t.islands = append(t.islands, in.IslandsOf(placement.NodeID(n)))
	}
	return t
}

// fits is how many pods of a request a node has room for.
func fits(free, request []int64, most int) int {
	for c, amount := range request {
		if amount > 0 {
			most = min(most, int(max(0, free[c])/amount))
		}
	}
	return most
}

func take(free, request []int64, pods int) {
	for c, amount := range request {
		free[c] -= amount * int64(pods)
	}
}

// allowed are the ranges of nodes, one of which must hold all members: the domains of the highest tier.
func (s *search) allowed() (ranges [][2]int) {
	tier := s.demand.HighestTier
	if tier == 0 {
		return [][2]int{{0, s.tree.nodes}}
	}
	lo := 0
	for n := 1; n <= s.tree.nodes; n++ {
		if n < s.tree.nodes && s.tree.up[n][tier] == s.tree.up[lo][tier] {
			continue
		}
		if s.holdsPlaced(lo, n) {
			ranges = append(ranges, [2]int{lo, n})
		}
		lo = n
	}
	return ranges
}

func (s *search) holdsPlaced(lo, hi int) bool {
	for r := range s.demand.Roles {
		for _, member := range s.demand.Roles[r].Placed {
			if int(member.Node) < lo || int(member.Node) >= hi {
				return false
			}
		}
	}
	return true
}

func (s *search) eligible(role, node int) bool {
	set := s.demand.Roles[role].Eligible
	return set == nil || set.Has(placement.NodeID(node))
}
