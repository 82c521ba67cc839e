// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// flows takes members of patterns with servers away, the one first without which the rest costs least; O(domains that hold
// members) for each of them, or for several where that would exceed the bound on work.
func (s *shrinking) flows() {
	x := newThinning(s)
	rounds := max(1, min(s.count, shrinkWork/max(1, len(x.domains), len(s.members))))
	each := (s.count + rounds - 1) / rounds
	var list []int
	for len(list) < s.count {
		taken := s.takeFirst(x.ranking(), min(each, s.count-len(list)))
		for _, i := range taken {
			x.remove(s.members[i].Node)
		}
		list = append(list, taken...)
	}
	s.best = list
}

// thinning holds how many members of each class each domain has while members of one class go.
type thinning struct {
	s       *shrinking
	class   int
	flows   *flows // as heavy as when all are gone, so that the order in which they go makes no difference in bytes
	rows    map[DomainID][]int32
	domains []DomainID // keys of rows, ascending
}

func newThinning(s *shrinking) *thinning {
	x := &thinning{s: s, class: s.d.class(s.role), rows: map[DomainID][]int32{}}
	total := make([]int, s.d.classes())
	for _, seat := range s.seats {
		class := s.d.class(seat.role)
		if class < 0 {
			continue
		}
		total[class]++
		for v := DomainID(seat.node); s.t.parent[v] != NoDomain; v = s.t.parent[v] {
			if x.rows[v] == nil {
				x.rows[v] = make([]int32, len(total))
				x.domains = append(x.domains, v)
			}
			x.rows[v][class]++
		}
	}
	slices.Sort(x.domains)
	total[x.class] -= s.count
	x.flows = s.d.flowsOf(total)
	x.flows.total[x.class] += int64(s.count)
	return x
}

func (x *thinning) remove(node NodeID) {
	x.flows.total[x.class]--
	for v := DomainID(node); x.s.t.parent[v] != NoDomain; v = x.s.t.parent[v] {
		x.rows[v][x.class]--
	}
}

// uplinkTime is how long the uplink of a domain is busy.
type uplinkTime struct {
	domain  DomainID
	seconds float64
}

// ranking of the members that are left: the one first without which the others cost least.
func (x *thinning) ranking() []int {
	t, flows := x.s.t, x.flows
	flows.total[x.class]-- // one more is gone, whoever it is
	busiest := x.busiest()
	byNode := map[NodeID]staying{}
	order := x.s.downwards()
	for _, i := range order {
		node := x.s.members[i].Node
		if _, known := byNode[node]; known {
			continue
		}
		cost := staying{penalty: -x.s.penalty(node)}
		for _, other := range busiest {
			if !t.Holds(other.domain, node) {
				cost.busy = other.seconds
				break
			}
		}
		for v := DomainID(node); t.parent[v] != NoDomain; v = t.parent[v] {
			row := x.rows[v]
			before := flows.load(v, row)
			row[x.class]--
			after := flows.load(v, row)
			row[x.class]++
			cost.bytes += t.weights[t.TierOf(v)] * (after - before)
			cost.busy = max(cost.busy, float64(after)*flows.unit()/t.bandwidth[v])
		}
		byNode[node] = cost
	}
	flows.total[x.class]++
	slices.SortStableFunc(order, func(a, b int) int {
		return byNode[x.s.members[a].Node].compare(byNode[x.s.members[b].Node], x.s.byBusy)
	})
	return order
}

// busiest uplinks, one more than a node has above it: so that the busiest elsewhere is among them.
func (x *thinning) busiest() []uplinkTime {
	all := make([]uplinkTime, 0, len(x.domains))
	for _, v := range x.domains {
		all = append(all, uplinkTime{v, float64(x.flows.load(v, x.rows[v])) * x.flows.unit() / x.s.t.bandwidth[v]})
	}
	slices.SortFunc(all, func(a, b uplinkTime) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.domain, b.domain))
	})
	return all[:min(len(all), len(x.s.t.tiers))]
}
