// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// searchWork bounds how many domains the search looks at for one start, and for the last improvement.
const searchWork = 1 << 14

// incumbent is the best plan found so far.
type incumbent struct {
	nodes  []NodeID
	counts []int32
	value  value
	found  bool
}

func (i *incumbent) offer(b *board) {
	if !b.complete() || b.sum.lonely > 0 {
		return
	}
	if v := b.value(); !i.found || v.less(i.value, b.p.byBusy) {
		i.nodes, i.counts = b.nodes()
		i.value, i.found = v, true
	}
}

// search is for jobs too large for the exact search: several starts by best-fit descent, each improved; the best of them,
// improved once more.
func (p *problem) search(lo, hi NodeID) (nodes []NodeID, counts []int32, ok bool) {
	b := newBoard(p)
	var best incumbent
	for _, scope := range p.scopes(lo, hi) {
		targets := p.targets(scope)
		for by := range orders {
			b.reset()
			b.fill(scope.domain, scope.tier, p.lots(), by)
			if !b.complete() {
				b.greedy(targets, -1)
			}
			if b.complete() {
				b.improve(targets, searchWork*p.effort)
				best.offer(b)
			}
		}
		for _, anchor := range p.anchors(scope) {
			b.reset()
			b.grow(anchor, scope.tier, p.lots(), roomiest)
			if b.complete() {
				b.improve(targets, searchWork*p.effort)
				best.offer(b)
			}
		}
		if !best.found && b.pack(p.t.NodesOf(scope.domain)) {
			b.improve(targets, searchWork*p.effort)
			best.offer(b)
		}
		if len(p.fixed) > 0 {
			b.reset()
			if b.greedy(targets, -1).ok {
				b.improve(targets, searchWork*p.effort)
				best.offer(b)
			}
		}
	}
	return best.nodes, best.counts, best.found
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
	top := len(p.t.tiers)
	if p.limit > 0 {
		top = p.limit
	}
	for tier := NodeTier; tier <= top; tier++ {
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

// targets are the nodes of a scope to which members may be moved.
func (p *problem) targets(s scope) []NodeID {
	var nodes []NodeID
	lo, hi := p.t.NodesOf(s.domain)
	for n := lo; n < hi; n++ {
		for k := range p.kinds {
			if p.kinds[k].shape.fit[n] > 0 {
				nodes = append(nodes, n)
				break
			}
		}
	}
	return nodes[:min(len(nodes), maxTargets*p.effort)]
}

const anchorsPerScope = 4

// anchors are nodes of a scope to begin at: those that hold most of the job.
func (p *problem) anchors(s scope) []NodeID {
	lots := p.lots()
	type anchor struct {
		node  NodeID
		share float64
	}
	var all []anchor
	lo, hi := p.t.NodesOf(s.domain)
	for n := lo; n < hi; n++ {
		share := 1.0
		for i := range lots {
			share *= float64(min(lots[i].want, lots[i].shape.fit[n])) + 0.01
		}
		all = append(all, anchor{n, share})
	}
	slices.SortFunc(all, func(a, b anchor) int { return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.node, b.node)) })
	var nodes []NodeID
	for _, a := range all[:min(len(all), anchorsPerScope*p.effort)] {
		nodes = append(nodes, a.node)
	}
	for _, f := range p.fixed[:min(len(p.fixed), anchorsPerScope*p.effort)] {
		if p.t.Holds(s.domain, f.node) && !slices.Contains(nodes, f.node) {
			nodes = append(nodes, f.node)
		}
	}
	return nodes
}
