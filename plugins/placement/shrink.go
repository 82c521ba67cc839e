// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// shrinkWork bounds the choice of members to take away, in members (of a Collective: ranks) looked at.
const shrinkWork = 1 << 20

// staying is what those cost who stay. Between choices of equally many members all units are the same, so that integers
// do and ties are ties.
type staying struct {
	bytes   int64
	busy    float64
	penalty int64
}

func (a staying) compare(b staying, byBusy bool) int {
	if byBusy && a.busy != b.busy {
		return sign(a.busy < b.busy)
	}
	switch {
	case a.bytes != b.bytes:
		return sign(a.bytes < b.bytes)
	case a.busy != b.busy:
		return sign(a.busy < b.busy)
	case a.penalty != b.penalty:
		return sign(a.penalty < b.penalty)
	}
	return 0
}

func sign(less bool) int {
	if less {
		return -1
	}
	return 1
}

// price works out what those cost who are not gone.
func (s *shrinking) price() staying {
	var cost staying
	stay := make([]seat, 0, len(s.seats))
	for i, seat := range s.seats {
		if !s.gone[i] {
			stay = append(stay, seat)
			if seat.role == s.role {
				cost.penalty += s.penalty(seat.node)
			}
		}
	}
	if !s.talks {
		return cost
	}
	var loads *tally
	var unit float64
	if s.d.Pattern == Collective {
		walk := walkRing(s.t, s.d, s.d.ranked(stay))
		loads, unit = walk.ends, endBytes(len(walk.node), s.d.parameterBytes())
		sum, most := walk.islands()
		cost.bytes = s.t.weights[IslandTier] * sum
		cost.busy = float64(most) * unit / s.t.tiers[IslandTier].bandwidth()
	} else {
		loads, unit = flowLoads(s.t, s.d, stay)
	}
	for i, v := range loads.domains {
		if s.t.parent[v] != NoDomain {
			cost.bytes += s.t.weights[s.t.TierOf(v)] * loads.sums[i]
			cost.busy = max(cost.busy, float64(loads.sums[i])*unit/s.t.bandwidth[v])
		}
	}
	loads.close()
	return cost
}

func (s *shrinking) penalty(node NodeID) int64 {
	if penalties := s.d.Roles[s.role].Penalty; penalties != nil {
		return int64(penalties[node])
	}
	return 0
}

// offer those that are gone now as the answer.
func (s *shrinking) offer(list []int) {
	cost := s.price()
	order := -1
	if s.best != nil {
		order = cost.compare(s.cost, s.byBusy)
	}
	if order < 0 || order == 0 && slices.Compare(list, s.best) > 0 {
		s.best, s.cost = slices.Clone(list), cost
	}
}

// weight of pricing one choice.
func (s *shrinking) weight() int {
	if s.d.Pattern != Collective {
		return max(1, len(s.seats))
	}
	ranks := 0
	for _, seat := range s.seats {
		ranks += max(1, int(s.t.gpusOf(s.d.Roles[seat.role].Request)))
	}
	return ranks
}

// few says whether all choices can be looked at.
func (s *shrinking) few() bool {
	choices, most := 1, shrinkWork/s.weight()
	for i := range min(s.count, len(s.members)-s.count) {
		if choices = choices * (len(s.members) - i) / (i + 1); choices > most {
			return false
		}
	}
	return true
}

// all choices: list, and the rest from the members up to a position.
func (s *shrinking) all(from int, list []int) {
	if len(list) == s.count {
		s.offer(list)
		return
	}
	for i := from; i >= s.count-len(list)-1; i-- {
		if s.take(i) {
			s.all(i-1, append(list, i))
			s.giveBack(i)
		}
	}
}

// byPenalty is for members without traffic.
func (s *shrinking) byPenalty() {
	order := s.downwards()
	slices.SortStableFunc(order, func(a, b int) int {
		return int(s.penalty(s.members[b].Node) - s.penalty(s.members[a].Node))
	})
	s.best = s.takeFirst(order, s.count)
}

// downwards are all members that are left, highest index first.
func (s *shrinking) downwards() []int {
	order := make([]int, 0, len(s.members))
	for i := len(s.members) - 1; i >= 0; i-- {
		if !s.gone[s.seatOf[i]] {
			order = append(order, i)
		}
	}
	return order
}

// takeFirst takes as many members, in this order, as the limits allow.
func (s *shrinking) takeFirst(order []int, count int) (taken []int) {
	for _, i := range order {
		if len(taken) < count && s.take(i) {
			taken = append(taken, i)
		}
	}
	return taken
}
