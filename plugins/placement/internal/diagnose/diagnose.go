// SPDX-License-Identifier: Apache-2.0

// Package diagnose finds why a gang has no plan: what is short, in which domain, and with which change it would fit. It returns
// data; package report of the scheduler's plugin makes sentences of it.
package diagnose

import (
	"errors"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Diagnosis is why a demand has no plan, and the least that would have to change.
type Diagnosis struct {
	// Plan of a demand that fits. Only Roles and Solves are set beside it.
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

// Diagnose reports why Solve finds no plan. It calls Solve MaxSolves times at most, and looks at each node a few times for
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
