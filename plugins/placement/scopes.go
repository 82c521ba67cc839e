// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"math"
	"slices"
)

// scope is a domain within which a start places everything.
type scope struct {
	domain  DomainID
	tier    int
	expense float64 // what a member costs there at least, as far as sums tell
	share   float64
	lead    float64
}

const (
	// scopesPerTier are tried; fewScopes for jobs of few members, where each is searched well, and for large ones.
	scopesPerTier = 8
	fewScopes     = 3
	fewMembers    = 16
	// leadScopes are looked at node by node.
	leadScopes = 16
)

// highest is the tier of the domains within one of which everybody must be.
func (p *problem) highest() int {
	if p.limit > 0 {
		return p.limit
	}
	return len(p.t.tiers)
}

// scopes are the domains of a tier that may hold the job: those that need the fewest nodes first, of these the tightest.
// Where everybody must be within one of them, these are all that there are; else a few.
func (p *problem) scopes(tier int, lo, hi NodeID) []scope {
	if tier == NodeTier && p.whole() == nil {
		return nil // no node holds all
	}
	var all []scope
	lots := p.lots()
	for d := p.t.Ancestor(lo, tier); d <= p.t.Ancestor(hi-1, tier); d++ {
		if share := p.share(d, lots); share >= 1 {
			all = append(all, scope{domain: d, tier: tier, expense: p.expense(d, tier, lots), share: share})
		}
	}
	order := func(a, b scope) int {
		return cmp.Or(cmp.Compare(a.expense, b.expense), cmp.Compare(b.lead, a.lead), cmp.Compare(a.share, b.share), cmp.Compare(a.domain, b.domain))
	}
	slices.SortFunc(all, order)
	if tier == p.limit {
		return all
	}
	if tier == NodeTier+1 {
		all = all[:min(len(all), leadScopes*p.effort)]
		for i := range all {
			all[i].lead = p.lead(all[i].domain, lots)
		}
		slices.SortFunc(all, order)
	}
	most := scopesPerTier
	if n := p.members(); n <= fewMembers || n > largeJob*p.effort {
		most = fewScopes
	}
	return all[:min(len(all), most*p.effort)]
}

// lead is the largest share of the job that one node of a domain holds.
func (p *problem) lead(d DomainID, lots []lot) (lead float64) {
	lo, hi := p.t.NodesOf(d)
	for n := lo; n < hi; n++ {
		lead = max(lead, min(1, p.share(DomainID(n), lots)))
	}
	return lead
}

// leaving is the least that a plan costs whose members are in several domains of a tier: a single member that is apart
// from all others, across this tier and all below.
func (p *problem) leaving(tier int) int64 {
	least := int64(math.MaxInt64)
	row := make([]int32, p.classes)
	for k := range p.kinds {
		class := p.kinds[k].class
		if class < 0 {
			return 0 // silent members may be apart at no cost
		}
		row[class] = 1
		least = min(least, p.traffic.load(p.t.Root(), row))
		row[class] = 0
	}
	if least == math.MaxInt64 || len(p.fixed) > 0 {
		return 0
	}
	price := int64(0)
	for t := NodeTier; t <= min(tier, len(p.t.weights)-1); t++ {
		price += p.t.weights[t]
	}
	return 2 * least * price
}

// atLeast is the least that a plan in a scope costs: for a ring, what it costs to use as many nodes as it must.
func (s scope) atLeast(p *problem) int64 {
	ring := p.ring
	if ring == nil || len(p.fixed) > 0 || len(p.kinds) != 1 || len(ring.gaps) != 1 || p.unit == 0 || s.tier == NodeTier {
		return 0
	}
	nodes := p.kinds[0].shape.nodesFor(s.domain, int64(p.kinds[0].count))
	if nodes < 2 {
		return 0
	}
	return 2 * nodes * (p.t.weights[IslandTier] + p.t.weights[NodeTier])
}

const maxTargets = 64

// targets are the nodes of a small scope to which members may be moved; in a larger one improve finds its own.
func (p *problem) targets(s scope) []NodeID {
	var nodes []NodeID
	lo, hi := p.t.NodesOf(s.domain)
	for n := lo; n < hi && len(nodes) < maxTargets*p.effort; n++ {
		if p.fitsAny(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// fitsAny says whether a node has room for a member of any kind.
func (p *problem) fitsAny(n NodeID) bool {
	return slices.ContainsFunc(p.kinds, func(k kind) bool { return k.shape.fit[n] > 0 })
}
