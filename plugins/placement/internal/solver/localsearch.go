// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// improve moves and swaps members while the plan gets better, until nothing helps or the work is used up.
func (b *partialAssignment) improve(targets []tree.NodeID, work int) {
	b.work = 0
	targets = b.allowed(union(targets, b.neighbours()))
	b.swapDescent(targets, work)
	s := &descent{b: b, best: b.value(), limit: work}
	for improved := true; improved && b.work < work; {
		improved = s.align(targets)
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

// align takes the members out of a domain that are the rest of a parallel group, highest tier first, if that helps.
func (s *descent) align(targets []tree.NodeID) (improved bool) {
	b := s.b
	ring := b.p.ring
	if ring == nil || ring.Group == 1 || len(ring.Gaps) == 0 || b.podClasses > 1 {
		return false
	}
	nodes, _ := b.nodes()
	for tier := len(b.p.t.Tiers()) - 1; tier > tree.NodeTier; tier-- {
		for lo := 0; lo < len(nodes) && b.work < s.limit; {
			domain := b.p.t.Ancestor(nodes[lo], tier)
			hi := lo + 1
			for hi < len(nodes) && b.p.t.Holds(domain, nodes[hi]) {
				hi++
			}
			if rest := b.row(int(b.position[domain]) - 1)[0] % int32(ring.Group); rest > 0 {
				improved = s.release(nodes[lo:hi], domain, rest, union(targets, nodes)) || improved
			}
			lo = hi
		}
	}
	return improved
}

// release moves so many members out of a domain, from the nodes that hold fewest.
func (s *descent) release(from []tree.NodeID, domain tree.DomainID, n int32, targets []tree.NodeID) bool {
	b := s.b
	from = slices.Clone(from)
	slices.SortStableFunc(from, func(x, y tree.NodeID) int { return int(b.countOn(x, 0) - b.countOn(y, 0)) })
	var taken []step
	for _, node := range from {
		if m := min(n, b.countOn(node, 0)); m > 0 {
			b.add(node, 0, -m)
			taken = append(taken, step{node, 0, m})
			n -= m
		}
	}
	outside := slices.DeleteFunc(slices.Clone(targets), func(x tree.NodeID) bool { return b.p.t.Holds(domain, x) })
	done := b.greedy(outside, -1)
	if done.ok && s.better() {
		return true
	}
	for _, d := range done.steps {
		b.add(d.node, d.kind, -d.n)
	}
	for _, d := range taken {
		b.add(d.node, d.kind, d.n)
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

// pullTable improves plans of flows, where a member is drawn to the domains that hold those it talks to.
//
// Weighted bytes are a constant less twice the sum, over domains v and pairs of classes, of price * weight_ab * k_a k_b
// (flows.go). So what a member of class a adds on a node is the node's pull on it, the sum over its tiers of price *
// weight_ab * k_b, and a move changes the sum by the difference of two pulls. A swap of two members that talk to each
// other changes it by four pulls, less twice what they share where they are apart.
type pullTable struct {
	b     *partialAssignment
	f     *traffic.Flows
	nodes []tree.NodeID
	pulls []int64 // node-major, of each pod class
	apart []int64 // price of all tiers below the one where two nodes meet, by that tier
}

// swapDescent moves and swaps until no move and no swap gains, or the work is used up.
func (b *partialAssignment) swapDescent(targets []tree.NodeID, limit int) {
	f, ok := b.p.traffic.(*traffic.Flows)
	if !ok || len(f.Pairs) == 0 || b.p.unit == 0 || b.p.colocationTier > 0 || b.p.byBusy {
		return
	}
	a := &pullTable{b: b, f: f, apart: make([]int64, len(b.p.t.Tiers())+1)}
	for tier := tree.NodeTier; tier < len(b.p.t.Tiers()); tier++ {
		a.apart[tier+1] = a.apart[tier] + b.p.weights[tier]
	}
	used, _ := b.nodes()
	a.nodes = union(targets, used)
	for a.pull(); b.work < limit && (a.move() || a.swap()); a.pull() {
	}
}

// pull works all pulls out.
func (a *pullTable) pull() {
	b := a.b
	a.pulls = slices.Grow(a.pulls[:0], len(a.nodes)*b.podClasses)[:len(a.nodes)*b.podClasses]
	clear(a.pulls)
	for i, n := range a.nodes {
		pulls := a.pulls[i*b.podClasses : (i+1)*b.podClasses]
		for d, tier := tree.DomainID(n), tree.NodeTier; tier < len(b.p.t.Tiers()); d, tier = b.p.t.Parent(d), tier+1 {
			b.work++
			c := b.position[d]
			if c == 0 {
				continue
			}
			row := b.row(int(c) - 1)
			for _, p := range a.f.Pairs {
				for k := range pulls {
					switch b.p.podClasses[k].class {
					case p.A:
						pulls[k] += b.p.weights[tier] * p.Weight * int64(row[p.B])
					case p.B:
						pulls[k] += b.p.weights[tier] * p.Weight * int64(row[p.A])
					}
				}
			}
		}
	}
}

// move takes members of each pod class from where they are pulled least to where they are pulled most.
func (a *pullTable) move() (moved bool) {
	b := a.b
	for k := range b.podClasses {
		from, to := -1, -1
		for i, n := range a.nodes {
			pull := a.pulls[i*b.podClasses+k]
			if b.countOn(n, k) > 0 && (from < 0 || pull < a.pulls[from*b.podClasses+k]) {
				from = i
			}
			if (to < 0 || pull > a.pulls[to*b.podClasses+k]) && b.capacity(n, k) > 0 {
				to = i
			}
		}
		if from < 0 || to < 0 || a.pulls[from*b.podClasses+k] >= a.pulls[to*b.podClasses+k] {
			continue
		}
		n := min(b.countOn(a.nodes[from], k), b.capacity(a.nodes[to], k))
		b.add(a.nodes[from], k, -n)
		b.add(a.nodes[to], k, n)
		if b.podClasses > 1 {
			return true // pulls on other pod classes have changed
		}
		moved = true
	}
	return moved
}

// swap exchanges the two members that gain most by it, of those where the first is on the node that comes first.
func (a *pullTable) swap() bool {
	b := a.b
	for i, n := range a.nodes {
		best, gain := swapping{}, int64(0)
		for k := range b.podClasses {
			if b.countOn(n, k) == 0 {
				continue
			}
			for j, m := range a.nodes {
				for other := range b.podClasses {
					b.work++
					if i == j || other == k || b.countOn(m, other) == 0 {
						continue
					}
					g := a.gain(i, j, k, other)
					if g > gain && b.fitSwap(n, m, k, other) {
						best, gain = swapping{n, m, k, other}, g
					}
				}
			}
		}
		if gain > 0 {
			b.swap(best)
			return true
		}
	}
	return false
}

type swapping struct {
	a, b   tree.NodeID
	ka, kb int
}

func (b *partialAssignment) swap(s swapping) {
	b.add(s.a, s.ka, -1)
	b.add(s.b, s.kb, -1)
	b.add(s.a, s.kb, 1)
	b.add(s.b, s.ka, 1)
}

// gain of an exchange of one member of pod class k on the i-th node with one of another pod class on the j-th.
func (a *pullTable) gain(i, j, k, other int) int64 {
	kinds := a.b.podClasses
	gain := a.pulls[j*kinds+k] - a.pulls[i*kinds+k] + a.pulls[i*kinds+other] - a.pulls[j*kinds+other]
	if gain <= 0 {
		return gain
	}
	weight := a.f.Weight(a.b.p.podClasses[k].class, a.b.p.podClasses[other].class)
	u, v, tier := tree.DomainID(a.nodes[i]), tree.DomainID(a.nodes[j]), tree.NodeTier
	for ; u != v; u, v, tier = a.b.p.t.Parent(u), a.b.p.t.Parent(v), tier+1 {
	}
	return gain - 2*weight*a.apart[tier]
}

// fitSwap reports whether one member of pod class k on node n has capacity on m for one of another pod class there, and the other way round.
func (b *partialAssignment) fitSwap(n, m tree.NodeID, k, other int) bool {
	p := b.p
	if p.podClasses[other].shape.Fit(n) == 0 || p.podClasses[k].shape.Fit(m) == 0 {
		return false
	}
	leftN, leftM := b.left(int(b.position[n])-1), b.left(int(b.position[m])-1)
	a, c := p.podClasses[k].request, p.podClasses[other].request
	for r := range a {
		if leftN[r]+a[r]-c[r] < 0 && c[r] > 0 || leftM[r]+c[r]-a[r] < 0 && a[r] > 0 {
			return false
		}
	}
	return true
}
