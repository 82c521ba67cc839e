// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// improve moves and swaps members while the plan gets better, until nothing helps or the work is used up.
func (b *partialAssignment) improve(targets []tree.NodeID, work int) {
	b.work = 0
	targets = b.allowed(union(targets, b.neighbours()))
	s := &descent{b: b, best: b.value(), limit: work}
	for improved := true; improved && b.work < work; {
		improved = false
		nodes, _ := b.nodes()
		s.targets = union(targets, b.open(nodes))
		for _, from := range nodes {
			for k := range b.podClasses {
				for b.work < work && b.countOn(from, k) > 0 && (s.move(from, k) || s.swap(from, k, nodes)) {
					improved = true
				}
			}
		}
	}
}

func (b *partialAssignment) countOn(node tree.NodeID, k int) int32 {
	if n := b.position[node]; n > 0 {
		return b.count(int(n) - 1)[k]
	}
	return 0
}

// descent is a search that only takes steps that make the plan better.
type descent struct {
	b       *partialAssignment
	best    value
	targets []tree.NodeID
	limit   int
}

// better reports whether the assignment as it stands is better than the best so far, and if so takes it for the best.
func (s *descent) better() bool {
	b := s.b
	if !b.p.byBusy && (b.sum.workersWithoutServer > s.best.workersWithoutServer || b.sum.workersWithoutServer == s.best.workersWithoutServer && b.sum.bytes > s.best.bytes) {
		return false
	}
	v := b.value()
	if !v.less(s.best, b.p.byBusy) {
		return false
	}
	s.best = v
	return true
}

// move takes one member of a pod class from a node to wherever that is best.
func (s *descent) move(from tree.NodeID, k int) bool {
	b := s.b
	to, best := tree.NodeID(-1), s.best
	b.add(from, k, -1)
	for _, n := range s.targets {
		if n == from || b.capacity(n, k) < 1 {
			continue
		}
		if !b.p.byBusy && b.p.colocationTier == 0 && b.sum.bytes+b.gain(n, k, 1) > best.bytes {
			continue
		}
		b.add(n, k, 1)
		if v := b.value(); v.less(best, b.p.byBusy) {
			to, best = n, v
		}
		b.add(n, k, -1)
	}
	if to < 0 {
		b.add(from, k, 1)
		return false
	}
	b.add(to, k, 1)
	s.best = best
	return true
}

// swap exchanges one member of a pod class with one of another pod class elsewhere.
func (s *descent) swap(from tree.NodeID, k int, nodes []tree.NodeID) bool {
	b := s.b
	if b.podClasses == 1 {
		return false
	}
	for _, n := range nodes {
		if n == from {
			continue
		}
		for other := range b.podClasses {
			if other == k || b.countOn(n, other) == 0 || b.countOn(from, k) == 0 || b.work > s.limit {
				continue
			}
			b.add(from, k, -1)
			b.add(n, other, -1)
			if b.capacity(from, other) > 0 && b.capacity(n, k) > 0 {
				b.add(from, other, 1)
				b.add(n, k, 1)
				if s.better() {
					return true
				}
				b.add(from, other, -1)
				b.add(n, k, -1)
			}
			b.add(from, k, 1)
			b.add(n, other, 1)
		}
	}
	return false
}

// greedy places all who wait: always the pod class and node that cost least for each member, as many at once as fit. It reports
// whether everybody found a node.
func (b *partialAssignment) greedy(targets []tree.NodeID) bool {
	for !b.complete() {
		node, class, members, least := tree.NodeID(-1), 0, int32(0), 0.0
		for k, waiting := range b.waiting {
			if waiting == 0 {
				continue
			}
			for _, n := range targets {
				m := min(waiting, b.capacity(n, k))
				if m < 1 {
					continue
				}
				each := float64(b.gain(n, k, m)) / float64(m)
				if node < 0 || each < least || each == least && m > members {
					node, class, members, least = n, k, m, each
				}
			}
		}
		if node < 0 {
			return false
		}
		b.add(node, class, members)
	}
	return true
}
