// SPDX-License-Identifier: Apache-2.0

// Package diagnose finds why a gang has no plan: what is short, in which domain, and with which change it would fit. It returns
// data; package report of the scheduler's plugin makes sentences of it.
package diagnose

import (
	"errors"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Diagnosis is why a demand has no plan, and the least that would have to change.
type Diagnosis struct {
	// Plan of a demand that fits. Only Roles and Solves are set with it.
	Plan *solver.Plan
	// Roles of the demand.
	Roles []RoleNeed
	// Resources are the names of the amounts in the suggestions.
	Resources []string
	// Domain holds most of what is needed, among the domains that may hold the whole gang: those of Demand.HighestTier, around
	// running members if there are any; without a highest tier, the cluster.
	Domain DomainCapacity
	// Limited reports that the demand has a highest tier.
	Limited bool
	// Blocker is what keeps the gang out of the domain.
	Blocker Blocker
	// Suggestions with which the demand fits, each one found by solving it, three at most: a limit that is lifted (a tier, else
	// colocation, else both), then fewer members of a role, then more that is free.
	Suggestions []Suggestion
	// Solves is how often Solve was called: MaxSolves at most.
	Solves int
}

// RoleNeed is what one role needs.
type RoleNeed struct {
	Name string
	// Minimum of the members must run, and Running do.
	Minimum, Running int
	// Missing are those up to the minimum that do not fit into the domain.
	Missing int
}

// DomainCapacity is how much of a gang one domain holds.
type DomainCapacity struct {
	// ID of the domain, and its name, which is unique in the tier.
	ID   tree.DomainID
	Name string
	// Tier and its name; len(Topology.Tiers()) and "cluster" for the root.
	Tier     int
	TierName string
	// Fits is how many members of each role were found to fit at the same time, no more than are needed. Limits other than
	// capacity and eligible nodes do not count.
	Fits []int
}

// Diagnose reports why Solve finds no plan. It calls Solve MaxSolves times at most, and checks each node a few times for
// each role. The topology is unchanged afterwards. Errors are those of Solve, but for ErrNoFit.
func Diagnose(t *tree.Topology, d *gang.Demand, o solver.Options) (*Diagnosis, error) {
	e := &Diagnosis{Resources: t.Resources()}
	plan, err := solver.Solve(t, d, o)
	e.Solves = 1
	if err != nil && !errors.Is(err, solver.ErrNoFit) {
		return nil, err
	}
	for i := range d.Roles {
		role := &d.Roles[i]
		e.Roles = append(e.Roles, RoleNeed{Name: role.Name, Minimum: role.Minimum, Running: len(role.Placed)})
	}
	if err == nil {
		e.Plan = plan
		return e, nil
	}
	g := newGang(t, d)
	fit, err := g.best(o.Stop)
	if err != nil {
		return nil, err
	}
	e.Domain, e.Limited, e.Blocker = fit.capacity(), d.Limited(), g.blocker(fit)
	s := &suggester{pendingGang: g, o: o, fit: fit}
	if e.Suggestions, err = s.all(); err != nil {
		return nil, err
	}
	e.Solves += s.solves
	e.countMissing()
	return e, nil
}

// countMissing counts the members of each role that do not fit: by what was packed, and where at most one role misses some and
// fewer of it were found to do, by that.
func (e *Diagnosis) countMissing() {
	var missing []int
	for r, fits := range e.Domain.Fits {
		role := &e.Roles[r]
		if role.Missing = max(0, role.Minimum-role.Running) - fits; role.Missing > 0 {
			missing = append(missing, r)
		}
	}
	for _, s := range e.Suggestions {
		if s.Change == FewerMembers && !s.wholeGroups && (len(missing) == 0 || len(missing) == 1 && missing[0] == s.Role) {
			e.Roles[s.Role].Missing = s.By
		}
	}
}

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
		if !g.d.Roles[role].Eligible.Has(n) {
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
