// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// improveRing moves and swaps ranks, among the nodes given and those of the plan, while the ring gets cheaper.
func (p *problem) improveRing(nodes []tree.NodeID, plan []gang.Assignment, work int) ([]gang.Assignment, value) {
	s := &ringSearch{ringPods: newRingPods(p)}
	at := s.read(plan)
	s.best = s.value(at)
	if s.best.bytes == 0 {
		return plan, s.best
	}
	s.nodes = p.within(union(nodes, at), plan)
	s.take(plan, func(gang.Assignment) bool { return true })
	s.steps = work / max(1, s.total)
	for s.step(at) && s.steps > 0 {
	}
	return s.write(plan, at), s.best
}

// within are those of the nodes where members may go without breaking the limit that the plan keeps.
func (p *problem) within(nodes []tree.NodeID, plan []gang.Assignment) []tree.NodeID {
	if p.limit == 0 || len(plan) == 0 {
		return nodes
	}
	domain := p.t.Ancestor(plan[0].Node, p.limit)
	return slices.DeleteFunc(slices.Clone(nodes), func(n tree.NodeID) bool { return !p.t.Holds(domain, n) })
}

// take takes the capacity that some members of a plan need.
func (s *ringSearch) take(plan []gang.Assignment, who func(gang.Assignment) bool) {
	for _, n := range s.nodes {
		s.free = append(s.free, slices.Clone(s.p.t.Free(tree.DomainID(n))))
	}
	for _, a := range plan {
		j, ok := slices.BinarySearch(s.nodes, a.Node)
		if !ok || !who(a) {
			continue
		}
		for r, amount := range s.p.d.Roles[a.Role].Request {
			s.free[j][r] -= amount
		}
	}
}

// step makes the first change that helps: runs of neighbours go to another node, or change places with as many others.
func (s *ringSearch) step(at []tree.NodeID) bool {
	lengths := []int{1}
	for _, n := range []int{int(s.ring.Group), 2, 3, 4} {
		if !slices.Contains(lengths, n) && n < len(at) {
			lengths = append(lengths, n)
		}
	}
	for _, length := range slices.Backward(lengths) {
		for lo := 0; lo+length <= len(at); lo++ {
			if s.steps <= 0 || s.hasPlaced(lo, length) {
				continue
			}
			if s.together(at, lo, lo+length) {
				return true
			}
			for other := lo + length; other+length <= len(at); other++ {
				if !s.hasPlaced(other, length) && s.exchange(at, lo, other, length) {
					return true
				}
			}
		}
	}
	return false
}

// hasPlaced reports whether some of the pods in a run were placed before.
func (s *ringSearch) hasPlaced(lo, length int) bool {
	return slices.ContainsFunc(s.pods[lo:lo+length], func(p ringPod) bool { return p.kind < 0 })
}

// exchange swaps two runs of equally many pods, if that helps.
func (s *ringSearch) exchange(at []tree.NodeID, a, b, length int) bool {
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
func (s *ringSearch) together(at []tree.NodeID, lo, hi int) bool {
	was := slices.Clone(at[lo:hi])
	s.shift(was, lo, 1)
	for j, n := range s.nodes {
		moved := 0
		for i := lo; i < hi && s.p.podClasses[s.pods[i].kind].shape.Fit(n) > 0 && s.fits(j, &s.p.podClasses[s.pods[i].kind]); i++ {
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

// shift gives capacity back for pods from position lo on, on the given nodes, or takes it.
func (s *ringSearch) shift(at []tree.NodeID, lo int, sign int64) {
	for i, n := range at {
		j, _ := slices.BinarySearch(s.nodes, n)
		for _, need := range s.p.podClasses[s.pods[lo+i].kind].needs {
			s.free[j][need.resource] += sign * need.amount
		}
	}
}

func (s *ringSearch) better(at []tree.NodeID) bool {
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
