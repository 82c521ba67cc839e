// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// Cause is what is in the way of a member.
type Cause string

const (
	// TooLittle of a resource is free.
	TooLittle Cause = "resources"
	// Scattered is a resource of which enough is free, but not on one node.
	Scattered Cause = "fragmentation"
	// NotTogether are resources that are free on some nodes each, but not all on one node.
	NotTogether Cause = "combination"
	// NotEligible says that there is room, but on nodes that the role may not use.
	NotEligible Cause = "eligibility"
	// NoServer says that there is room, but not with a server wherever there are workers.
	NoServer Cause = "colocation"
	// RunningApart says that the running members are already further apart than the limit allows.
	RunningApart Cause = "running apart"
	// NotFound says that there seems to be room, but the search found no plan.
	NotFound Cause = "search"
)

// Stop says what is in the way of the next member of a role in one domain.
type Stop struct {
	Role  int
	Cause Cause
	// Resource that is short, or (NotTogether) the scarcest one.
	Resource string
	// Free is how much of it there is: in all, or, if Left, after those members that fit together.
	// Needed is how much the gang needs in all, or, if Left, one member. NoServer: Free of the Needed workers have room in
	// Nodes domains with a server; Free is below 0 where that is not what is in the way.
	Free, Needed int64
	Left         bool
	// Most that is left on one node (Scattered).
	Most int64
	// Other resource, and how much of it a member needs, that none of the Having nodes has that have enough of Resource
	// (NotTogether).
	Other       string
	OtherNeeded int64
	Having      int
	// Tier whose domains must have a server where they have workers (NoServer).
	Tier int
	// Nodes of the domain and those of them that are eligible for the role. RunningApart: Nodes is in how many domains
	// members run.
	Nodes, Eligible int
	// Also says what is in the way of the next member already, where there is too little for all.
	Also *Stop
}

// stop finds what is in the way of the next member of a role, after those that fit.
func (g *gang) stop(p *gangFit, role int) Stop {
	s := Stop{Role: role, Nodes: int(p.hi - p.lo)}
	elsewhere := false
	request := g.d.Roles[role].Request
	for n := p.lo; n < p.hi; n++ {
		if p.eligible(role, n) {
			s.Eligible++
		} else if !elsewhere {
			elsewhere = fits(p.of(n), request) > 0
		}
	}
	if s.Eligible == 0 || elsewhere {
		s.Cause = NotEligible
		return s
	}
	left := p.leftFor(role)
	if !g.tooLittle(&s, p, request) {
		g.stopNext(&s, p, request, left)
	} else if r := slices.Index(g.t.resources, s.Resource); !s.Left && left[r].sum >= request[r] {
		s.Also = &Stop{Role: role, Nodes: s.Nodes, Eligible: s.Eligible}
		g.stopNext(s.Also, p, request, left)
	}
	return s
}

// stopNext finds what is in the way by what is left.
func (g *gang) stopNext(s *Stop, p *gangFit, request []int64, left []remains) {
	if !g.scattered(s, request, left) {
		g.notTogether(s, p, request, left)
	}
}

// remains is what is left of one resource on the nodes that are eligible for a role.
type remains struct {
	sum, most int64
	having    int // nodes with enough for one member
}

func (p *gangFit) leftFor(role int) []remains {
	left := make([]remains, len(p.g.t.resources))
	request := p.g.d.Roles[role].Request
	for n := p.lo; n < p.hi; n++ {
		if !p.eligible(role, n) {
			continue
		}
		for r, amount := range p.of(n) {
			left[r].sum += max(0, amount)
			left[r].most = max(left[r].most, amount)
			if amount >= request[r] {
				left[r].having++
			}
		}
	}
	return left
}

// tooLittle looks for a resource that is short in all: of several, an accelerator, then the one that is shortest.
func (g *gang) tooLittle(s *Stop, p *gangFit, request []int64) bool {
	free, needed := slices.Clone(g.t.Free(p.domain)), slices.Clone(g.amounts)
	if s.Eligible < s.Nodes {
		clear(free)
		for n := p.lo; n < p.hi; n++ {
			if p.eligible(s.Role, n) {
				for r, amount := range g.t.Free(DomainID(n)) {
					free[r] += max(0, amount)
				}
			}
		}
		for r, amount := range request {
			needed[r] = plusTimes(0, g.need[s.Role], amount)
		}
	}
	return s.choose(g.t, request, func(r int) (float64, bool) {
		return float64(max(0, free[r])) / float64(needed[r]), max(0, free[r]) < needed[r]
	}, func(r int) {
		s.Cause, s.Free, s.Needed = TooLittle, max(0, free[r]), needed[r]
	})
}

// scattered looks for a resource of which no node has enough for one more.
func (g *gang) scattered(s *Stop, request []int64, left []remains) bool {
	return s.choose(g.t, request, func(r int) (float64, bool) {
		return float64(left[r].sum) / float64(request[r]), left[r].having == 0
	}, func(r int) {
		s.Cause, s.Left, s.Free, s.Needed = TooLittle, true, left[r].sum, request[r]
		if left[r].sum >= request[r] {
			s.Cause, s.Most = Scattered, left[r].most
		}
	})
}

// notTogether names the resource that fewest nodes have, and the one that most of these lack.
func (g *gang) notTogether(s *Stop, p *gangFit, request []int64, left []remains) {
	s.choose(g.t, request, func(r int) (float64, bool) { return float64(left[r].having), true }, func(r int) {
		s.Cause, s.Needed, s.Having = NotTogether, request[r], left[r].having
		lacking := make([]int, len(request))
		for n := p.lo; n < p.hi; n++ {
			if of := p.of(n); p.eligible(s.Role, n) && of[r] >= request[r] {
				for other, amount := range of {
					if amount < request[other] && request[other] > 0 {
						lacking[other]++
					}
				}
			}
		}
		other := slices.Index(lacking, slices.Max(lacking))
		s.Other, s.OtherNeeded = g.t.resources[other], request[other]
	})
}

// choose the resource, of those requested that pass, with the lowest measure; accelerators go before others.
func (s *Stop) choose(t *Topology, request []int64, measure func(r int) (float64, bool), found func(r int)) bool {
	best, least := -1, 0.0
	for _, accelerators := range []bool{true, false} {
		for r, amount := range request {
			if amount <= 0 || slices.Contains(t.accelerators, r) != accelerators {
				continue
			}
			if value, passes := measure(r); passes && (best < 0 || value < least) {
				best, least = r, value
			}
		}
		if best >= 0 {
			break
		}
	}
	if best < 0 {
		return false
	}
	s.Resource = t.resources[best]
	found(best)
	return true
}
