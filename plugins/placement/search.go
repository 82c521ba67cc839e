// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// Work is counted in domains looked at. Small jobs improve each start by so much; of large ones, only the best starts.
// Then the best plan is improved once more.
const (
	startWork = 1 << 12
	finalWork = 1 << 14
	// largeJob has so many members.
	largeJob = 128
	// largeStarts are improved, for large jobs.
	largeStarts = 2
)

// incumbent is one of the best plans found so far.
type incumbent struct {
	nodes  []NodeID
	counts []int32
	value  value
}

// search is for jobs too large for the exact search: several starts by best-fit descent, each improved a little; then the
// best of them as far as it goes. It returns the best plans that it found, the best one first.
func (p *problem) search(lo, hi NodeID) []incumbent {
	b := newBoard(p)
	defer b.close()
	s := &search{p: p, b: b, keep: 1, large: p.members() > largeJob*p.effort}
	if p.needsRanks() {
		s.keep = maxIncumbents // counts do not tell which is best
	}
	if s.large {
		s.keep = max(s.keep, largeStarts)
	}
	for _, scope := range p.scopes(lo, hi) {
		s.within(scope)
	}
	improved := slices.Clone(s.best[:min(len(s.best), 1)])
	if s.large {
		improved = slices.Clone(s.best[:min(len(s.best), largeStarts)])
	}
	for _, start := range improved {
		b.reset()
		b.set(start.nodes, start.counts)
		b.improve(nil, finalWork*p.effort/len(improved))
		s.offer()
	}
	return s.best
}

// offer takes what is on the board, if it is a plan and among the best.
func (s *search) offer() {
	b := s.b
	if !b.complete() || b.sum.lonely > 0 {
		return
	}
	v := b.value()
	at := len(s.best)
	for at > 0 && v.less(s.best[at-1].value, s.p.byBusy) {
		at--
	}
	if at == s.keep || at > 0 && v == s.best[at-1].value {
		return
	}
	nodes, counts := b.nodes()
	s.best = slices.Insert(s.best, at, incumbent{nodes, counts, v})
	s.best = s.best[:min(len(s.best), s.keep)]
}

const maxIncumbents = 6

type search struct {
	p     *problem
	b     *board
	best  []incumbent
	keep  int
	large bool
}

// within makes all starts in one scope.
func (s *search) within(scope scope) {
	p, b := s.p, s.b
	for by := range orders {
		if s.large && by == tightest {
			continue // the least likely to be best
		}
		s.start(scope, func() { b.fill(scope.domain, scope.tier, p.lots(), by) })
	}
	if scope.tier == p.highest() {
		s.start(scope, func() { b.cover(scope.domain, scope.tier) })
	}
	for _, anchor := range p.anchors(scope) {
		s.start(scope, func() { b.grow(anchor, scope.tier, p.lots(), roomiest) })
	}
	if len(s.best) == 0 && b.pack(p.t.NodesOf(scope.domain)) {
		s.offer()
	}
	if len(p.fixed) > 0 {
		s.start(scope, func() {})
	}
}

// start puts members on an empty board; those whom it leaves out go where they cost least.
func (s *search) start(scope scope, fill func()) {
	s.b.reset()
	s.b.lazy = true
	fill()
	s.b.settle()
	var targets []NodeID
	if !s.b.complete() || !s.large {
		targets = s.p.targets(scope)
	}
	if !s.b.complete() && !s.b.greedy(targets, -1).ok {
		return
	}
	if !s.large {
		s.b.improve(targets, startWork*s.p.effort)
	}
	s.offer()
}

// members to place.
func (p *problem) members() int {
	sum := 0
	for k := range p.kinds {
		sum += int(p.kinds[k].count)
	}
	return sum
}

// highest is the tier of the domains within one of which everybody must be.
func (p *problem) highest() int {
	if p.limit > 0 {
		return p.limit
	}
	return len(p.t.tiers)
}

// scope is a domain within which a start places everything.
type scope struct {
	domain DomainID
	tier   int
	share  float64
}

const scopesPerTier = 3

// scopes are the tightest domains of each tier that may hold the job, lowest tier first.
func (p *problem) scopes(lo, hi NodeID) []scope {
	var all []scope
	lots := p.lots()
	top := p.highest()
	tier := NodeTier
	if p.whole() == nil {
		tier++ // no node holds all
	}
	for ; tier <= top; tier++ {
		var here []scope
		for d := p.t.Ancestor(lo, tier); d <= p.t.Ancestor(hi-1, tier); d++ {
			if share := p.share(d, lots); share >= 1 {
				here = append(here, scope{d, tier, share})
			}
		}
		slices.SortFunc(here, func(a, b scope) int { return cmp.Or(cmp.Compare(a.share, b.share), cmp.Compare(a.domain, b.domain)) })
		if tier < p.limit || p.limit == 0 {
			here = here[:min(len(here), scopesPerTier*p.effort)]
		}
		all = append(all, here...)
	}
	return all
}

const maxTargets = 64

// targets are the nodes of a small scope to which members may be moved; in a larger one improve finds its own.
func (p *problem) targets(s scope) []NodeID {
	var nodes []NodeID
	lo, hi := p.t.NodesOf(s.domain)
	for n := lo; n < hi && len(nodes) < maxTargets*p.effort; n++ {
		for k := range p.kinds {
			if p.kinds[k].shape.fit[n] > 0 {
				nodes = append(nodes, n)
				break
			}
		}
	}
	return nodes
}
