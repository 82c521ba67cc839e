// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

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
			improved = s.empty(from) || improved
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

// empty takes all members off a node and places them again, each where it costs least.
func (s *descent) empty(node tree.NodeID) bool {
	b := s.b
	if b.work > s.limit {
		return false
	}
	before := slices.Clone(b.count(int(b.position[node]) - 1))
	for k, n := range before {
		if n > 0 {
			b.add(node, k, -n)
		}
	}
	if !slices.ContainsFunc(before, func(n int32) bool { return n > 0 }) {
		return false
	}
	done := b.greedy(s.targets, node)
	if done.ok && s.better() {
		return true
	}
	for _, d := range done.steps {
		b.add(d.node, d.kind, -d.n)
	}
	for k, n := range before {
		if n > 0 {
			b.add(node, k, n)
		}
	}
	return false
}

type step struct {
	node tree.NodeID
	kind int
	n    int32
}

type steps struct {
	steps []step
	ok    bool
}

// greedy places all who wait: always the pod class and node that cost least for each member, as many at once as fit.
func (b *partialAssignment) greedy(targets []tree.NodeID, but tree.NodeID) (done steps) {
	for !b.complete() {
		best, least := step{node: -1}, 0.0
		for k, waiting := range b.waiting {
			if waiting == 0 {
				continue
			}
			for _, n := range targets {
				if n == but {
					continue
				}
				m := min(waiting, b.capacity(n, k))
				if m < 1 {
					continue
				}
				each := float64(b.gain(n, k, m)) / float64(m)
				if best.node < 0 || each < least || each == least && m > best.n {
					best, least = step{n, k, m}, each
				}
			}
		}
		if best.node < 0 {
			return done
		}
		b.add(best.node, best.kind, best.n)
		done.steps = append(done.steps, best)
	}
	done.ok = true
	return done
}
