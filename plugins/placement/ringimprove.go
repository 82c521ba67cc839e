// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// improveRing moves and swaps ranks, among the nodes given and those of the plan, while the ring gets cheaper.
func (p *problem) improveRing(nodes []NodeID, plan []Assignment, work int) ([]Assignment, value) {
	s := &ringSearch{ringPods: newRingPods(p)}
	at := s.read(plan)
	s.best = s.value(at)
	if s.best.bytes == 0 {
		return plan, s.best
	}
	s.nodes = p.within(union(nodes, at), plan)
	s.take(plan, func(Assignment) bool { return true })
	s.steps = work / max(1, s.total)
	for s.step(at) && s.steps > 0 {
	}
	return s.write(plan, at), s.best
}

// gatherRing makes another plan of one, its parallel groups kept together where that can be.
func (p *problem) gatherRing(nodes []NodeID, plan []Assignment) ([]Assignment, bool) {
	s := &ringSearch{ringPods: newRingPods(p)}
	at := s.read(plan)
	s.nodes = p.within(union(nodes, at), plan)
	s.take(plan, func(a Assignment) bool { return p.d.Roles[a.Role].Traffic != Worker })
	if !s.gather(at) {
		return nil, false
	}
	return s.write(plan, at), true
}

// within are those of the nodes where members may go without breaking the limit that the plan keeps.
func (p *problem) within(nodes []NodeID, plan []Assignment) []NodeID {
	if p.limit == 0 || len(plan) == 0 {
		return nodes
	}
	domain := p.t.Ancestor(plan[0].Node, p.limit)
	return slices.DeleteFunc(slices.Clone(nodes), func(n NodeID) bool { return !p.t.Holds(domain, n) })
}

// take takes the room that some members of a plan need.
func (s *ringSearch) take(plan []Assignment, who func(Assignment) bool) {
	for _, n := range s.nodes {
		s.room = append(s.room, slices.Clone(s.p.t.Free(DomainID(n))))
	}
	for _, a := range plan {
		j, ok := slices.BinarySearch(s.nodes, a.Node)
		if !ok || !who(a) {
			continue
		}
		for r, amount := range s.p.d.Roles[a.Role].Request {
			s.room[j][r] -= amount
		}
	}
}

// step makes the first change that helps: runs of neighbours go to another node, or change places with as many others.
func (s *ringSearch) step(at []NodeID) bool {
	lengths := []int{1}
	for _, n := range []int{int(s.ring.group), 2, 3, 4} {
		if !slices.Contains(lengths, n) && n < len(at) {
			lengths = append(lengths, n)
		}
	}
	for _, length := range slices.Backward(lengths) {
		for lo := 0; lo+length <= len(at); lo++ {
			if s.steps <= 0 || s.settled(lo, length) {
				continue
			}
			if s.together(at, lo, lo+length) {
				return true
			}
			for other := lo + length; other+length <= len(at); other++ {
				if !s.settled(other, length) && s.exchange(at, lo, other, length) {
					return true
				}
			}
		}
	}
	return false
}

// settled says whether some of the pods in a run were placed before.
func (s *ringSearch) settled(lo, length int) bool {
	return slices.ContainsFunc(s.pods[lo:lo+length], func(p ringPod) bool { return p.kind < 0 })
}

// exchange swaps two runs of equally many pods, if that helps.
func (s *ringSearch) exchange(at []NodeID, a, b, length int) bool {
	differ := false
	for i := range length {
		if s.pods[a+i].role != s.pods[b+i].role {
			return false
		}
		differ = differ || at[a+i] != at[b+i]
	}
	if !differ {
		return false
	}
	flip := func() {
		for i := range length {
			at[a+i], at[b+i] = at[b+i], at[a+i]
		}
	}
	if flip(); s.better(at) {
		return true
	}
	flip()
	return false
}

// together moves a run of pods to one node, if that helps.
func (s *ringSearch) together(at []NodeID, lo, hi int) bool {
	was := slices.Clone(at[lo:hi])
	s.shift(was, lo, 1)
	for j, n := range s.nodes {
		moved := 0
		for i := lo; i < hi && s.p.kinds[s.pods[i].kind].shape.fit[n] > 0 && s.hasRoom(j, &s.p.kinds[s.pods[i].kind]); i++ {
			at[i] = n
			s.shift(at[i:i+1], i, -1)
			moved++
		}
		if moved == hi-lo && !slices.Equal(at[lo:hi], was) && s.better(at) {
			return true
		}
		s.shift(at[lo:lo+moved], lo, 1)
		copy(at[lo:hi], was)
	}
	s.shift(was, lo, -1)
	return false
}

// shift gives room back for pods from position lo on, on the given nodes, or takes it.
func (s *ringSearch) shift(at []NodeID, lo int, sign int64) {
	for i, n := range at {
		j, _ := slices.BinarySearch(s.nodes, n)
		for _, need := range s.p.kinds[s.pods[lo+i].kind].needs {
			s.room[j][need.resource] += sign * need.amount
		}
	}
}

func (s *ringSearch) better(at []NodeID) bool {
	if s.steps--; s.steps <= 0 {
		return false
	}
	s.p.stop.count(len(at))
	v := s.value(at)
	if !v.less(s.best, s.p.byBusy) {
		return false
	}
	s.best = v
	return true
}
