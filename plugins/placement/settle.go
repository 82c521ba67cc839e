// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

const (
	// settleWork bounds the pairs of states that the exact search looks at once a plan is known.
	settleWork = 1 << 20
	// settleNodes bounds the nodes of one domain that it chooses from.
	settleNodes = 256
	// settleScopes bounds the domains.
	settleScopes = 4
)

// settle looks for a better plan by exact search, with the bound of the one that is known: in the domain that holds it, and
// in a few others that could. It is for flows whose members need several racks: which of them, and how many members to
// each, is what starts and small steps are weakest at.
func (s *search) settle(lo, hi NodeID) {
	p, b := s.p, s.b
	if _, ok := p.traffic.(*flows); !ok || p.noExact || p.unit == 0 || p.states() == 0 {
		return
	}
	used := s.best[0].nodes
	tier := NodeTier
	for !p.t.Holds(p.t.Ancestor(used[0], tier), used[len(used)-1]) {
		tier++
	}
	if tier <= NodeTier+1 {
		return
	}
	work := settleWork * p.effort
	for _, domain := range p.settling(p.t.Ancestor(used[0], tier), tier, lo, hi) {
		best := &s.best[0]
		x := newExact(p)
		x.once, x.work = true, work
		if p.byBusy {
			x.limit = best.value.busy
		} else {
			x.bound = best.value.bytes
		}
		nodes := p.promising(domain, best.nodes, settleNodes*p.effort)
		counts, ok := x.solve(nodes)
		if ok {
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

// settling are the domains to look at: the one that holds the plan, then others of its tier.
func (p *problem) settling(own DomainID, tier int, lo, hi NodeID) []DomainID {
	domains := []DomainID{own}
	for _, scope := range p.scopes(tier, lo, hi) {
		if scope.domain != own && len(domains) < settleScopes*p.effort {
			domains = append(domains, scope.domain)
		}
	}
	return domains
}

// promising are nodes of a domain with room for someone, one class after the other no more than a plan can need; where
// they are too many, those of the lowest domains that hold most of the job. Those in use are among them.
func (p *problem) promising(domain DomainID, used []NodeID, most int) (nodes []NodeID) {
	lo, hi := p.t.NodesOf(domain)
	var near []promise
	lots := p.lots()
	for d := p.t.parent[lo]; d <= p.t.parent[hi-1]; d++ {
		if share := p.share(d, lots); share > 0 {
			near = append(near, promise{d, share})
		}
	}
	slices.SortFunc(near, byPromise)
	classes := classes{p: p, members: p.members()}
	for _, d := range near {
		lo, hi := p.t.NodesOf(d.domain)
		for n := lo; n < hi; n++ {
			if p.fitsAny(n) && classes.needs(n) || classes.runsOn(n) {
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
