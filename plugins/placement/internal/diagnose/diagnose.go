// SPDX-License-Identifier: Apache-2.0

// Package diagnose finds why a gang has no plan: what is short, in which domain, and with which change it would fit.
package diagnose

import (
	"errors"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Diagnosis is why a demand has no plan, and the least that would have to change.
type Diagnosis struct {
	// Plan of a demand that fits; Tiers and Suggestions are empty then.
	Plan *solver.Plan
	// Roles of the demand.
	Roles []RoleNeed
	// Tiers from the nodes upwards; the last one is the whole cluster.
	Tiers []TierCapacity
	// DecidingTier is the position in Tiers of what must hold the whole gang: that of Demand.HighestTier, or the cluster.
	DecidingTier int
	// Suggestions with which the demand fits, each one found by solving it, three at most: a limit that is lifted (a tier, else
	// colocation, else both), then fewer members of a role, then more that is free.
	Suggestions []Suggestion
	// Solves is how often Solve was called: MaxSolves at most.
	Solves int

	units     unitTable
	resources []string
}

// RoleNeed is what one role needs.
type RoleNeed struct {
	Name    string
	Request []int64
	// Members there are in all, Minimum of them that must run, and Running ones.
	Members, Minimum, Running int
	// Missing are those up to the minimum that have no capacity in the best domain.
	Missing int
}

// needed is how many more members must get a node.
func (r *RoleNeed) needed() int { return max(0, r.Minimum-r.Running) }

// TierCapacity is the capacity of the domains of one tier.
type TierCapacity struct {
	// Tier and its name; len(Topology.Tiers()) and "cluster" for the last.
	Tier int
	Name string
	// Domains of the tier that may be used: with a highest tier and running members, only those around them.
	Domains int
	// Best are the domains that hold most of what is needed, three at most: most members first, then least that is short
	// in all, then by name.
	Best []DomainCapacity
}

// DomainCapacity is the capacity of one domain for what a gang still needs.
type DomainCapacity struct {
	Domain tree.DomainID
	// Name is the domain's path.
	Name string
	// Together is how many members of each role were found to fit at the same time, no more than are needed; limits other
	// than capacity and eligible nodes do not count.
	Together []int
	// Blockers of the next member of each role that misses some; first what keeps the whole gang out. Only the best domain
	// of the deciding tier has them.
	Blockers []Blocker

	short string // name for sentences
}

// Diagnose reports why Solve finds no plan. It calls Solve MaxSolves times at most, and looks at each node a few times for
// each role and tier. The topology is unchanged afterwards. Errors are those of Solve, but for ErrNoFit.
func Diagnose(t *tree.Topology, d *gang.Demand, o solver.Options) (*Diagnosis, error) {
	e := &Diagnosis{units: newUnitTable(t.Resources()), resources: t.Resources()}
	plan, err := solver.Solve(t, d, o)
	e.Solves = 1
	if err != nil && !errors.Is(err, solver.ErrNoFit) {
		return nil, err
	}
	for i := range d.Roles {
		role := &d.Roles[i]
		e.Roles = append(e.Roles, RoleNeed{
			Name: role.Name, Request: role.Request, Members: len(role.Pending) + len(role.Placed),
			Minimum: role.Minimum, Running: len(role.Placed),
		})
	}
	if err == nil {
		e.Plan = plan
		return e, nil
	}
	g := newGang(t, d)
	for tier := tree.NodeTier; tier <= len(t.Tiers()); tier++ {
		if tier == g.decidingTier() {
			e.DecidingTier = len(e.Tiers)
		}
		if o.Stop != nil && o.Stop() {
			return nil, solver.ErrStopped
		}
		e.Tiers = append(e.Tiers, g.tierCapacity(tier))
	}
	g.findBlockers(e.decidingDomain())
	s := &suggester{pendingGang: g, o: o, best: e.decidingDomain()}
	if e.Suggestions, err = s.all(); err != nil {
		return nil, err
	}
	e.Solves += s.solves
	e.countMissing()
	return e, nil
}

// decidingDomain returns the best domain of the deciding tier.
func (e *Diagnosis) decidingDomain() *DomainCapacity { return &e.Tiers[e.DecidingTier].Best[0] }

// countMissing members of each role: by what was packed, and where one role alone misses some and fewer of it were found
// to do, by that.
func (e *Diagnosis) countMissing() {
	var missing []int
	for r, together := range e.decidingDomain().Together {
		if e.Roles[r].Missing = e.Roles[r].needed() - together; e.Roles[r].Missing > 0 {
			missing = append(missing, r)
		}
	}
	for _, suggestion := range e.Suggestions {
		if len(missing) == 1 && len(suggestion.Fewer) == 1 && suggestion.Fewer[0].Role == missing[0] && !suggestion.wholeGroups {
			e.Roles[missing[0]].Missing = suggestion.Fewer[0].By
		}
	}
}
