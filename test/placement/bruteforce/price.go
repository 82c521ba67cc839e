// SPDX-License-Identifier: Apache-2.0

package bruteforce

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Price is the cost of any plan of all pending members, by the arithmetic that the enumeration uses. Assignments are in
// the order of roles and indexes; no capacity and no limit is looked at.
func Price(in *instances.Instance, assignments []placement.Assignment) Cost {
	s := &search{tree: newTree(in), demand: in.Demand}
	switch in.Demand.Pattern {
	case placement.Collective:
		return priceRing(s, assignments)
	case placement.ParameterServer:
		return priceCounts(s, assignments)
	default:
		return Cost{}
	}
}

func priceRing(s *search, assignments []placement.Assignment) Cost {
	r := newRing(s)
	node := map[placement.Member]int{}
	for _, a := range assignments {
		node[placement.Member{Role: a.Role, Index: a.Index}] = int(a.Node)
	}
	if r.ranks < 2 {
		return Cost{}
	}
	for _, seat := range r.seats {
		if seat.fixed >= 0 {
			r.walk.pod(seat.fixed, seat.gpus, true)
			continue
		}
		r.walk.pod(node[placement.Member{Role: seat.role, Index: seat.index}], seat.gpus, false)
	}
	r.walk.finish()
	unit := float64(r.ranks-1) / float64(r.ranks) * bytesOf(s.demand)
	return Cost{Priced: r.walk.priced * unit, Busiest: r.walk.busiest * unit}
}

func priceCounts(s *search, assignments []placement.Assignment) Cost {
	c := &counts{search: s}
	need := make([]int, len(s.demand.Roles))
	for _, a := range assignments {
		need[a.Role]++
	}
	c.begin(need)
	for _, a := range assignments {
		c.put(a.Role, int(a.Node), 1, false)
	}
	priced, busiest := 0.0, 0.0
	for n := range s.tree.nodes {
		priced, busiest, _ = c.close(n, priced, busiest)
	}
	if c.allP == 0 {
		return Cost{}
	}
	unit := bytesOf(s.demand) / float64(c.allP)
	return Cost{Priced: priced * unit, Busiest: busiest * unit}
}
