// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// ring takes members of a Collective away: the best one after the other, and, against that, the best run of neighbors,
// which leaves one new edge only and may take whole parallel groups.
func (s *shrinking) ring() {
	choices := max(1, shrinkWork/s.weight())
	s.oneByOne(choices)
	s.runs(choices)
}

// oneByOne prices each member that is left, takes the best, or the best few where pricing all again is too much work.
func (s *shrinking) oneByOne(choices int) {
	rounds := min(s.count, choices/len(s.members))
	if rounds == 0 {
		return // runs will do
	}
	each := (s.count + rounds - 1) / rounds
	var list []int
	for len(list) < s.count {
		order := s.downwards()
		cost := map[int]staying{}
		for _, i := range order {
			s.gone[s.seatOf[i]] = true
			cost[i] = s.price()
			s.gone[s.seatOf[i]] = false
		}
		slices.SortStableFunc(order, func(a, b int) int { return cost[a].compare(cost[b], s.byBusy) })
		list = append(list, s.takeFirst(order, min(each, s.count-len(list)))...)
	}
	slices.SortFunc(list, func(a, b int) int { return b - a })
	s.offer(list)
	s.reset()
}

// runs of count neighbors: all of them, or as many as the work allows, beginning with the highest indexes.
func (s *shrinking) runs(choices int) {
	last := len(s.members) - s.count
	step := last/choices + 1
	for lo := last; lo >= 0; lo -= step {
		list := make([]int, 0, s.count)
		for i := lo + s.count - 1; i >= lo; i-- {
			s.gone[s.seatOf[i]] = true
			list = append(list, i)
		}
		s.offer(list)
		s.reset()
	}
}

// reset brings all members back.
func (s *shrinking) reset() { clear(s.gone) }
