// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Work is counted in domains visited. Jobs of few members without traffic improve each start; others only the best starts.
const (
	startWork = 1 << 12
	// searchWork ends the starts once there is a plan.
	searchWork = 1 << 16
	finalWork  = 1 << 14
	// largeJob is the number of members of a large job. Of its starts largeStarts are improved, of smaller jobs' someStarts.
	largeJob    = 128
	largeStarts = 2
	someStarts  = 12
)

// incumbent is one of the best plans found so far.
type incumbent struct {
	nodes  []tree.NodeID
	counts []int32
	value  value
}

// search is for jobs too large for the exact search: several starts by best-fit descent, each improved a little; then the
// best of them until nothing helps. It returns the best plan that it found, false if it found none.
func (p *problem) search(lo, hi tree.NodeID) (found incumbent, ok bool) {
	b := newPartialAssignment(p)
	defer b.close()
	s := &search{p: p, b: b, large: p.members() > largeJob*p.effort, each: p.members() <= smallMembers && p.unit == 0}
	least := false // the best plan is as cheap as can be
	for tier := tree.NodeTier; tier <= p.highest(); tier++ {
		for _, scope := range p.scopes(tier, lo, hi) {
			if len(s.best) > 0 && s.work > searchWork*p.effort {
				break
			}
			s.within(scope)
			if s.cheapest(scope.atLeast(p)) {
				least = true // scopes to come need as many nodes, or more
				break
			}
		}
		if s.cheapest(p.leaving(tier)) {
			break // no plan that needs more than one domain of this tier is cheaper
		}
	}
	for _, start := range slices.Clone(s.best) {
		b.reset()
		b.set(start.nodes, start.counts)
		work := startWork
		if s.each || s.large {
			work = finalWork / s.starts()
		}
		b.improve(nil, work*p.effort)
		s.offer()
	}
	if len(s.best) == 0 {
		return incumbent{}, false
	}
	if !least {
		s.refineExact(lo, hi)
	}
	return s.best[0], true
}

// cheapest reports whether a plan was found that plans which cost the given weighted bytes cannot better.
func (s *search) cheapest(bytes int64) bool {
	return len(s.best) > 0 && !s.p.byBusy && s.best[0].value.bytes <= bytes && s.best[0].value.penalty == 0
}

// starts is how many of the best are kept, and improved at the end.
func (s *search) starts() int {
	switch {
	case s.each:
		return 1
	case s.large:
		return largeStarts
	}
	return someStarts * s.p.effort
}

// offer takes what is on the assignment, if it is a plan and among the best.
func (s *search) offer() {
	b := s.b
	if !b.complete() || b.sum.workersWithoutServer > 0 {
		return
	}
	v := b.value()
	at := len(s.best)
	for at > 0 && v.less(s.best[at-1].value, s.p.byBusy) {
		at--
	}
	if at == s.starts() || at > 0 && v == s.best[at-1].value {
		return
	}
	nodes, counts := b.nodes()
	s.best = slices.Insert(s.best, at, incumbent{nodes, counts, v})
	s.best = s.best[:min(len(s.best), s.starts())]
}

type search struct {
	p     *problem
	b     *partialAssignment
	best  []incumbent
	work  int
	large bool
	each  bool // start is improved
}

// within makes all starts in one scope.
func (s *search) within(scope scope) {
	p, b := s.p, s.b
	p.stop.atOnce()
	s.start(scope, func() { b.bestFitDescent(scope.domain, scope.tier, p.roleDemands(), tree.NoDomain) })
	if scope.tier == p.highest() {
		s.start(scope, func() { b.knapsackCover(scope.domain, scope.tier) })
	}
	for _, anchor := range p.seedNodes(scope) {
		s.start(scope, func() { b.expandFromSeed(tree.DomainID(anchor), tree.NodeTier, scope.tier, p.roleDemands()) })
	}
	if p.byBusy {
		for _, nodes := range p.roundRobinSets(scope) {
			s.start(scope, func() { b.roundRobinStart(nodes, p.roleDemands()) })
		}
	}
	if len(s.best) == 0 && b.binPack(p.t.NodesOf(scope.domain)) {
		s.offer()
	}
}

// start puts members on an empty assignment; those that it leaves out go where they cost least.
func (s *search) start(scope scope, fill func()) {
	s.b.reset()
	s.b.lazy = true
	fill()
	s.b.recompute()
	var targets []tree.NodeID
	if !s.b.complete() || s.each {
		targets = s.p.targets(scope)
	}
	if !s.b.complete() && !s.b.greedy(targets) && !s.b.fillRest(scope) {
		return
	}
	if s.each {
		s.b.improve(targets, startWork*s.p.effort)
	}
	s.offer()
	s.work += s.b.work
	s.b.work = 0
}

func (p *problem) members() int {
	sum := 0
	for k := range p.podClasses {
		sum += int(p.podClasses[k].count)
	}
	return sum
}

const (
	// refineWork bounds the pairs of states that the exact search visits once a plan is known.
	refineWork = 1 << 20
	// refineNodesMax bounds the nodes of one domain that it chooses from.
	refineNodesMax = 256
	// refineDomainsMax bounds the domains.
	refineDomainsMax = 4
)

// refineExact looks for a better plan by exact search, with the cost of the best one as the bound: in the domain that holds that plan, and
// in a few others of its tier. It is for flows whose members need several racks: starts and small steps seldom find which of them, and how
// many members for each.
func (s *search) refineExact(lo, hi tree.NodeID) {
	p, b, used := s.p, s.b, s.best[0].nodes
	if _, ok := p.traffic.(*traffic.Flows); !ok || p.noExact || p.unit == 0 || p.states() == 0 {
		return
	}
	tier := tree.NodeTier
	for !p.t.Holds(p.t.Ancestor(used[0], tier), used[len(used)-1]) {
		tier++
	}
	if tier <= tree.NodeTier+1 {
		return
	}
	work := refineWork * p.effort
	for _, domain := range p.refineDomains(p.t.Ancestor(used[0], tier), tier, lo, hi) {
		best := s.best[0]
		x := newExact(p)
		x.once, x.work = true, work
		if p.byBusy {
			x.limit = best.value.busy
		} else {
			x.bound = best.value.bytes
		}
		nodes := p.refineNodes(domain, best.nodes, refineNodesMax*p.effort)
		if counts, ok := x.solve(nodes); ok {
			b.reset()
			b.set(nodes, counts)
			b.improve(nil, startWork*p.effort)
			s.offer()
		}
		if work = x.work; work < 0 {
			return
		}
	}
}

// refineDomains are the domains to search: the one that holds the plan, then others of its tier.
func (p *problem) refineDomains(own tree.DomainID, tier int, lo, hi tree.NodeID) []tree.DomainID {
	domains := []tree.DomainID{own}
	for _, scope := range p.scopes(tier, lo, hi) {
		if scope.domain != own && len(domains) < refineDomainsMax*p.effort {
			domains = append(domains, scope.domain)
		}
	}
	return domains
}

// refineNodes are nodes of a domain with capacity for a member, one class after the other no more than a plan can need; where
// they are too many, those of the lowest domains that hold most of the job. Those in use are among them.
func (p *problem) refineNodes(domain tree.DomainID, used []tree.NodeID, most int) (nodes []tree.NodeID) {
	lo, hi := p.t.NodesOf(domain)
	var near []scoredDomain
	demands := p.roleDemands()
	for d := p.t.Parent(tree.DomainID(lo)); d <= p.t.Parent(tree.DomainID(hi-1)); d++ {
		if share := p.share(d, demands); share > 0 {
			near = append(near, scoredDomain{d, share})
		}
	}
	slices.SortFunc(near, byScore)
	classes := p.newClasses()
	for _, d := range near {
		lo, hi := p.t.NodesOf(d.domain)
		for n := lo; n < hi; n++ {
			if p.fitsAny(n) && classes.needs(n) || classes.fixed[n] {
				nodes = append(nodes, n)
			}
		}
		if len(nodes) >= most {
			break
		}
	}
	for _, n := range used {
		if p.t.Holds(domain, n) {
			nodes = append(nodes, n)
		}
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// improve moves and swaps members while the plan gets better, until nothing helps or the work is used up.
func (b *partialAssignment) improve(targets []tree.NodeID, work int) {
	b.work = 0
	targets = union(targets, b.neighbors())
	if used, _ := b.nodes(); len(used) > 0 {
		targets = b.p.within(targets, used[0])
	}
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

// move moves one member of a pod class from a node to the best one.
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

// greedy places all members that have no node: always the pod class and node that cost least for each member, as many at once as fit. It
// reports whether all found a node.
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
