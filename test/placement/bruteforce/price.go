// SPDX-License-Identifier: Apache-2.0

package bruteforce

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/traffic"
)

// Price is the cost of any plan of all pending members, by the arithmetic that the enumeration uses. Assignments are in
// the order of roles and indexes; no capacity and no limit is looked at.
func Price(in *instances.Instance, assignments []placement.Assignment) Cost {
	s := &search{tree: traffic.NewTree(in.Topology), demand: in.Demand}
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
	for _, seat := range r.seats {
		if seat.fixed >= 0 {
			r.walk.Pod(seat.fixed, seat.gpus, true)
			continue
		}
		r.walk.Pod(node[placement.Member{Role: seat.role, Index: seat.index}], seat.gpus, false)
	}
	r.walk.Close()
	unit := r.walk.Unit(s.demand)
	return Cost{Priced: r.walk.Priced * unit, Busiest: r.walk.Busiest * unit}
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
	for n := range s.tree.Nodes {
		priced, busiest, _ = c.close(n, priced, busiest)
	}
	if c.allP == 0 {
		return Cost{}
	}
	unit := traffic.Bytes(s.demand) / float64(c.allP)
	return Cost{Priced: priced * unit, Busiest: busiest * unit}
}
