// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
)

// Change is what a Relaxation changes.
type Change string

const (
	// HigherTier lets the gang spread over a domain of a higher tier, or anywhere.
	HigherTier Change = "higher tier"
	// PreferColocation makes Colocation Preferred of Required.
	PreferColocation Change = "colocation preferred"
	// BothLimits is HigherTier and PreferColocation, where neither is enough.
	BothLimits Change = "higher tier and colocation preferred"
	// FewerMembers takes members off: off the number of members and off the minimum.
	FewerMembers Change = "fewer members"
	// MoreFree adds to what is free on some nodes of one domain.
	MoreFree Change = "more free"
)

// Relaxation is one change with which a demand fits.
type Relaxation struct {
	Change Change
	// HighestTier to take (HigherTier, BothLimits); 0 is no limit.
	HighestTier int
	// Fewer members of these roles (FewerMembers).
	Fewer []Fewer
	// Domain that needs more (MoreFree), its tier and name; what it needs, by resource; and on which nodes, ascending.
	Domain     DomainID
	Tier       int
	DomainName string
	More       []int64
	Grants     []Grant
	// Plan that Solve found with the change.
	Plan *Plan

	wholeGroups bool   // members come off by parallel groups
	short       string // name of the domain for sentences
}

// Fewer members of a role: By so many, so that its minimum is Minimum.
type Fewer struct {
	Role    int
	Name    string
	By      int
	Minimum int
}

// Grant is more that is free on one node.
type Grant struct {
	Node    NodeID
	Name    string
	Amounts []int64
}

// Try solves a demand with the change. The topology is unchanged afterwards. Errors are those of Solve.
func (r *Relaxation) Try(t *Topology, d *Demand, o Options) (*Plan, error) {
	relaxed := r.relaxed(d)
	if len(r.Grants) == 0 {
		return Solve(t, relaxed, o)
	}
	mark := t.Begin()
	var undo []func()
	defer func() {
		t.Rollback(mark)
		for _, of := range slices.Backward(undo) {
			of()
		}
	}()
	for i := range r.Grants {
		undo = append(undo, t.grant(r.Grants[i].Node, r.Grants[i].Amounts))
	}
	return Solve(t, relaxed, o)
}

// relaxed is the demand with the change, as far as it is one of the demand.
func (r *Relaxation) relaxed(d *Demand) *Demand {
	relaxed := *d
	if r.Change == HigherTier || r.Change == BothLimits {
		relaxed.HighestTier = r.HighestTier
	}
	if r.Change == PreferColocation || r.Change == BothLimits {
		relaxed.Colocation = Preferred
	}
	if len(r.Fewer) > 0 {
		relaxed.Roles = slices.Clone(d.Roles)
	}
	for _, fewer := range r.Fewer {
		role := &relaxed.Roles[fewer.Role]
		role.Minimum -= fewer.By
		role.Pending = role.Pending[:len(role.Pending)-fewer.By]
	}
	return &relaxed
}

// grant adds to what is free on a node: GPUs to islands that are not whole, the rest to the last island, which grows if it
// must. Rollback takes that back, but for the islands' sizes, for which it returns an undo.
func (t *Topology) grant(node NodeID, amounts []int64) (undo func()) {
	t.record(node)
	sizes, islands := t.gpus.sizes(node), t.gpus.of(node)
	were := slices.Clone(sizes)
	more := t.gpusOf(amounts)
	for i := range islands {
		add := min(more, int64(sizes[i]-islands[i]))
		if i == len(islands)-1 {
			add = more
		}
		islands[i] += int16(add)
		sizes[i] = max(sizes[i], islands[i])
		more -= add
	}
	free := slices.Clone(t.Free(DomainID(node)))
	for r, amount := range amounts {
		if amount > 0 {
			free[r] = max(0, free[r]) + amount
		}
	}
	t.setFree(node, free)
	return func() { copy(sizes, were) }
}

// text says what to do: it goes on after "fits".
func (r *Relaxation) text(e *Explanation, label func(tier int) string) string {
	tier := "without a networkTopology limit"
	if r.HighestTier > 0 {
		tier = "with " + asLimit(label(r.HighestTier))
	}
	switch r.Change {
	case HigherTier:
		return tier
	case PreferColocation:
		return "with colocation Preferred"
	case BothLimits:
		return tier + " and colocation Preferred"
	case FewerMembers:
		var parts []string
		for _, fewer := range r.Fewer {
			parts = append(parts, numberOf(fewer.Minimum, fewer.Name))
		}
		return "with " + listed(parts, "")
	}
	const named = 2
	on := ""
	if r.Tier > NodeTier {
		on = fmt.Sprintf(" (on %d nodes)", len(r.Grants))
		if len(r.Grants) <= named {
			var names []string
			for _, grant := range r.Grants {
				names = append(names, grant.Name)
			}
			on = " (on " + listed(names, "") + ")"
		}
	}
	return fmt.Sprintf("with %s in %s%s", e.lexicon.amounts(r.More, e.resources, "more "), placeName(e.Tiers[r.Tier-NodeTier].Name, r.short), on)
}
