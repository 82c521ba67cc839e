// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// BlockerKind is the kind of a Blocker.
type BlockerKind string

const (
	// Insufficient reports that too little of a resource is free.
	Insufficient BlockerKind = "resources"
	// Fragmented reports that enough of a resource is free, but not on one node.
	Fragmented BlockerKind = "fragmentation"
	// NoSingleNode reports that each resource is free on some node, but not all on one node.
	NoSingleNode BlockerKind = "combination"
	// NotEligible reports that there is capacity, but on nodes that the role may not use.
	NotEligible BlockerKind = "eligibility"
	// NoServerNearby reports that there is capacity, but not with a server wherever there are workers (Demand.Colocation).
	NoServerNearby BlockerKind = "colocation"
	// RunningApart reports that the running members are further apart than Demand.HighestTier allows.
	RunningApart BlockerKind = "running apart"
	// NotFound reports that there seems to be capacity, but the search found no plan.
	NotFound BlockerKind = "search"
)

// Blocker is what keeps the next member of a role out of one domain.
type Blocker struct {
	Role int
	Kind BlockerKind
	// Resource that is short, or (NoSingleNode) the scarcest one.
	Resource string
	// Free is how much of it there is: in all, or, if Left, after those members that fit together.
	// Needed is how much the gang needs in all, or, if Left, one member. NoServerNearby: Free of the Needed workers have capacity in
	// Nodes domains with a server; Free is below 0 where that is not what is in the way.
	Free, Needed int64
	Left         bool
	// Most that is left on one node (Fragmented).
	Most int64
	// Other resource, and how much of it a member needs, that none of the Having nodes has that have enough of Resource
	// (NoSingleNode).
	Other       string
	OtherNeeded int64
	Having      int
	// Tier whose domains must have a server where they have workers (NoServerNearby).
	Tier int
	// Nodes of the domain and those of them that are eligible for the role. RunningApart: Nodes is in how many domains
	// members run.
	Nodes, Eligible int
	// Also is what keeps the next member out already, where there is too little for all.
	Also *Blocker
}

// blockerOf returns what keeps the next member of a role out, after those that fit.
func (g *pendingGang) blockerOf(p *gangFit, role int) Blocker {
	s := Blocker{Role: role, Nodes: int(p.hi - p.lo)}
	elsewhere := false
	request := g.d.Roles[role].Request
	for n := p.lo; n < p.hi; n++ {
		if p.eligible(role, n) {
			s.Eligible++
		} else if !elsewhere {
			elsewhere = tree.Fits(p.of(n), request) > 0
		}
	}
	if s.Eligible == 0 || elsewhere {
		s.Kind = NotEligible
		return s
	}
	left := p.leftFor(role)
	if !g.insufficient(&s, p, request) {
		g.blockNext(&s, p, request, left)
	} else if r := slices.Index(g.t.Resources(), s.Resource); !s.Left && left[r].sum >= request[r] {
		s.Also = &Blocker{Role: role, Nodes: s.Nodes, Eligible: s.Eligible}
		g.blockNext(s.Also, p, request, left)
	}
	return s
}

// blockNext finds what keeps the next member out, by what is left.
func (g *pendingGang) blockNext(s *Blocker, p *gangFit, request []int64, left []remains) {
	if !g.fragmented(s, request, left) {
		g.noSingleNode(s, p, request, left)
	}
}

// remains is what is left of one resource on the nodes that are eligible for a role.
type remains struct {
	sum, most int64
	having    int // nodes with enough for one member
}

func (p *gangFit) leftFor(role int) []remains {
	left := make([]remains, len(p.g.t.Resources()))
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

// insufficient looks for a resource that is short in all: of several, an accelerator, then the one that is shortest.
func (g *pendingGang) insufficient(s *Blocker, p *gangFit, request []int64) bool {
	free, needed := slices.Clone(g.t.Free(p.domain)), slices.Clone(g.amounts)
	if s.Eligible < s.Nodes {
		clear(free)
		for n := p.lo; n < p.hi; n++ {
			if p.eligible(s.Role, n) {
				for r, amount := range g.t.Free(tree.DomainID(n)) {
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
		s.Kind, s.Free, s.Needed = Insufficient, max(0, free[r]), needed[r]
	})
}

// fragmented looks for a resource of which no node has enough for one more.
func (g *pendingGang) fragmented(s *Blocker, request []int64, left []remains) bool {
	return s.choose(g.t, request, func(r int) (float64, bool) {
		return float64(left[r].sum) / float64(request[r]), left[r].having == 0
	}, func(r int) {
		s.Kind, s.Left, s.Free, s.Needed = Insufficient, true, left[r].sum, request[r]
		if left[r].sum >= request[r] {
			s.Kind, s.Most = Fragmented, left[r].most
		}
	})
}

// noSingleNode names the resource that fewest nodes have, and the one that most of these lack.
func (g *pendingGang) noSingleNode(s *Blocker, p *gangFit, request []int64, left []remains) {
	s.choose(g.t, request, func(r int) (float64, bool) { return float64(left[r].having), true }, func(r int) {
		s.Kind, s.Needed, s.Having = NoSingleNode, request[r], left[r].having
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
		s.Other, s.OtherNeeded = g.t.Resources()[other], request[other]
	})
}

// choose the resource, of those requested that pass, with the lowest measure; accelerators go before others.
func (s *Blocker) choose(t *tree.Topology, request []int64, measure func(r int) (float64, bool), found func(r int)) bool {
	best, least := -1, 0.0
	for _, accelerators := range []bool{true, false} {
		for r, amount := range request {
			if amount <= 0 || slices.Contains(t.Accelerators(), r) != accelerators {
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
	s.Resource = t.Resources()[best]
	found(best)
	return true
}

// findBlockers fills in the blockers of the deciding domain: capacity, running members that break the limit, servers that
// must be near, or the search.
func (g *pendingGang) findBlockers(capacity *DomainCapacity) {
	pack := g.pack(capacity.Domain)
	for _, r := range g.roles {
		if pack.together[r] < g.need[r] {
			capacity.Blockers = append(capacity.Blockers, g.blockerOf(pack, r))
		}
	}
	if g.runningDomains > 1 {
		capacity.Blockers = append([]Blocker{{Role: g.firstRole(), Kind: RunningApart, Nodes: g.runningDomains}}, capacity.Blockers...)
		return
	}
	g.blockSearch(capacity)
}

// blockSearch adds why there is no plan in a domain that has capacity, or has it for more workers than may be beside servers.
func (g *pendingGang) blockSearch(capacity *DomainCapacity) {
	if !g.d.Colocated() {
		if len(capacity.Blockers) == 0 {
			capacity.Blockers = []Blocker{{Role: g.firstRole(), Kind: NotFound}}
		}
		return
	}
	var workers int64
	for _, r := range g.roles {
		if g.d.Class(r) > gang.ServerClass {
			workers += int64(capacity.Together[r])
		}
	}
	alone := g.noServerNearby(capacity.Domain)
	if len(capacity.Blockers) == 0 || alone.Free >= 0 && alone.Free < workers {
		capacity.Blockers = append([]Blocker{alone}, capacity.Blockers...)
	}
}

// serverDomain is a domain that may hold servers and workers side by side.
type serverDomain struct {
	domain  tree.DomainID
	runs    bool // a server runs there
	workers int64
}

// noServerNearby counts how many workers fit into as many domains as servers can be in: the best ones.
func (g *pendingGang) noServerNearby(v tree.DomainID) Blocker {
	tier := g.d.ServerTier()
	s := Blocker{Role: g.workerRole(), Kind: NoServerNearby, Free: -1, Tier: tier}
	first, end := g.t.NodesOf(v)
	running, servers := g.servers(tier)
	var all []serverDomain
	for c := g.t.Ancestor(first, tier); c <= g.t.Ancestor(end-1, tier); c++ {
		at := serverDomain{domain: c, runs: running[c]}
		hosts := int64(0)
		for _, r := range g.roles {
			if class := g.d.Class(r); class == gang.ServerClass {
				hosts += g.shapes[r].Sum(c)
			} else if class > gang.ServerClass {
				at.workers += min(g.need[r], g.shapes[r].Sum(c))
			}
		}
		if at.runs || hosts > 0 {
			all = append(all, at)
		}
	}
	slices.SortFunc(all, func(a, b serverDomain) int {
		return cmp.Or(cmp.Compare(b.workers, a.workers), cmp.Compare(a.domain, b.domain))
	})
	var capacity, needed int64
	used := 0
	for _, at := range all {
		if at.runs || servers > 0 {
			capacity += at.workers
			used++
		}
		if !at.runs {
			servers--
		}
	}
	for _, r := range g.roles {
		if g.d.Class(r) > gang.ServerClass {
			needed += g.need[r]
		}
	}
	if capacity < needed {
		s.Free, s.Needed, s.Nodes = capacity, needed, used
	}
	return s
}

// servers are the domains of a tier in which some run, and how many more there will be.
func (g *pendingGang) servers(tier int) (running map[tree.DomainID]bool, more int64) {
	running = map[tree.DomainID]bool{}
	for r := range g.d.Roles {
		if g.d.Class(r) != gang.ServerClass {
			continue
		}
		more += g.need[r]
		for _, member := range g.d.Roles[r].Placed {
			running[g.t.Ancestor(member.Node, tier)] = true
		}
	}
	return running, more
}

func (g *pendingGang) workerRole() int {
	for _, r := range g.roles {
		if g.d.Class(r) > gang.ServerClass {
			return r
		}
	}
	return g.firstRole()
}

// firstRole that needs members, the hardest one.
func (g *pendingGang) firstRole() int {
	if len(g.roles) == 0 {
		return 0
	}
	return g.roles[0]
}
