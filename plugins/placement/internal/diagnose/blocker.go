// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// BlockerKind is the kind of a Blocker.
type BlockerKind string

const (
	// Insufficient reports that too little of a resource is free in the domain.
	Insufficient BlockerKind = "resources"
	// NoNode reports that enough of each resource is free in the domain, but not on one node.
	NoNode BlockerKind = "fragmentation"
	// NotEligible reports that there is capacity, but on nodes that the role may not use.
	NotEligible BlockerKind = "eligibility"
	// NoServerNearby reports that there is capacity, but not with a server wherever there are workers (Demand.Colocation).
	NoServerNearby BlockerKind = "colocation"
	// RunningApart reports that the running members are further apart than Demand.HighestTier allows.
	RunningApart BlockerKind = "running apart"
	// NotFound reports that there seems to be capacity, but the search found no plan.
	NotFound BlockerKind = "search"
)

// Blocker is what keeps the next member of a role out of a domain.
type Blocker struct {
	Kind BlockerKind
	Role int
	// Resource that is short; an accelerator before others. Insufficient: of the Needed for the role, the domain has Free. NoNode:
	// of the Needed for one more member, the node that lacks least has Free left.
	Resource     string
	Free, Needed int64
	Node         string
	// Nodes of the domain, and those of them that are eligible for the role (NotEligible).
	Nodes, Eligible int
	// TierName is the tier whose domains must have a server where they have workers (NoServerNearby).
	TierName string
}

// blocker returns what keeps a gang out of a domain that holds most of it: running members that break the limit, too little
// capacity, servers that must be near, or the search.
func (g *pendingGang) blocker(fit *gangFit) Blocker {
	if g.runningDomains > 1 {
		return Blocker{Kind: RunningApart, Role: g.firstRole()}
	}
	for _, r := range g.roles {
		if fit.together[r] < g.need[r] {
			return g.blockerOf(fit, r)
		}
	}
	if g.d.Colocated() {
		return Blocker{Kind: NoServerNearby, Role: g.workerRole(), TierName: g.t.TierName(g.d.ServerTier())}
	}
	return Blocker{Kind: NotFound, Role: g.firstRole()}
}

// blockerOf returns what keeps the next member of a role out, after those that fit.
func (g *pendingGang) blockerOf(fit *gangFit, role int) Blocker {
	b := Blocker{Role: role, Nodes: int(fit.hi - fit.lo)}
	request, left := g.d.Roles[role].Request, make([]int64, len(g.amounts))
	elsewhere, nearest, least := false, tree.NodeID(-1), shortage{}
	for n := fit.lo; n < fit.hi; n++ {
		if !fit.eligible(role, n) {
			elsewhere = elsewhere || tree.Fits(fit.of(n), request) > 0
			continue
		}
		b.Eligible++
		for r, amount := range fit.of(n) {
			left[r] += max(0, amount)
		}
		if short := g.shortage(fit.of(n), request); nearest < 0 || short.compare(least) < 0 {
			nearest, least = n, short
		}
	}
	if b.Eligible == 0 || elsewhere {
		b.Kind = NotEligible
		return b
	}
	if r := g.scarcest(left, request); r >= 0 {
		b.Kind, b.Resource = Insufficient, g.t.Resources()[r]
		b.Free, b.Needed = plusTimes(left[r], fit.together[role], request[r]), plusTimes(0, g.need[role], request[r])
		return b
	}
	r := g.scarcest(fit.of(nearest), request) // it is short of something, or the member would be there
	b.Kind, b.Resource, b.Node = NoNode, g.t.Resources()[r], g.t.NodeName(nearest)
	b.Free, b.Needed = max(0, fit.of(nearest)[r]), request[r]
	return b
}

// scarcest returns the resource of which the smallest part of a request is left: an accelerator before others; -1 if enough is
// left of each.
func (g *pendingGang) scarcest(left, request []int64) int {
	scarcest, least := -1, 0.0
	for r, amount := range request {
		if amount <= 0 || left[r] >= amount {
			continue
		}
		part := float64(left[r]) / float64(amount)
		if slices.Contains(g.t.Accelerators(), r) {
			part -= 1 << 32
		}
		if scarcest < 0 || part < least {
			scarcest, least = r, part
		}
	}
	return scarcest
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
