// SPDX-License-Identifier: Apache-2.0

package bruteforce

import "github.com/paddle-volcano/paddle-volcano/plugins/placement"

// allowed are the ranges of nodes, one of which must hold all members: the domains of the highest tier.
func (s *search) allowed() (ranges [][2]int) {
	tier := s.demand.HighestTier
	if tier == 0 {
		return [][2]int{{0, s.tree.Nodes}}
	}
	lo := 0
	for n := 1; n <= s.tree.Nodes; n++ {
		if n < s.tree.Nodes && s.tree.Up[n][tier] == s.tree.Up[lo][tier] {
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
