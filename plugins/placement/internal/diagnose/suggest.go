// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
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
	Domain     tree.DomainID
	Tier       int
	DomainName string
	More       []int64
	Grants     []Grant
	// Plan that Solve found with the change.
	Plan *solver.Plan

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
	Node    tree.NodeID
	Name    string
	Amounts []int64
}

// Try solves a demand with the change. The topology is unchanged afterwards. Errors are those of Solve.
func (r *Relaxation) Try(t *tree.Topology, d *gang.Demand, o solver.Options) (*solver.Plan, error) {
	relaxed := r.relaxed(d)
	if len(r.Grants) == 0 {
		return solver.Solve(t, relaxed, o)
	}
	mark := t.Begin()
	defer t.Rollback(mark)
	for i := range r.Grants {
		t.AddFree(r.Grants[i].Node, r.Grants[i].Amounts)
	}
	return solver.Solve(t, relaxed, o)
}

// relaxed is the demand with the change, as far as it is one of the demand.
func (r *Relaxation) relaxed(d *gang.Demand) *gang.Demand {
	relaxed := *d
	if r.Change == HigherTier || r.Change == BothLimits {
		relaxed.HighestTier = r.HighestTier
	}
	if r.Change == PreferColocation || r.Change == BothLimits {
		relaxed.Colocation = gang.Preferred
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
	if r.Tier > tree.NodeTier {
		on = fmt.Sprintf(" (on %d nodes)", len(r.Grants))
		if len(r.Grants) <= named {
			var names []string
			for _, grant := range r.Grants {
				names = append(names, grant.Name)
			}
			on = " (on " + listed(names, "") + ")"
		}
	}
	return fmt.Sprintf("with %s in %s%s", e.lexicon.amounts(r.More, e.resources, "more "), placeName(e.Tiers[r.Tier-tree.NodeTier].Name, r.short), on)
}

// limits that may be lifted: the nearest higher tier, or none; colocation; both, if neither is enough.
func (x *relaxing) limits() (found []Relaxation) {
	if x.d.Limited() {
		found = append(found, x.higher(HigherTier)...)
	}
	if x.d.Colocated() {
		if r := (Relaxation{Change: PreferColocation}); x.possible(x.decisive()) && x.works(&r) {
			found = append(found, r)
		}
	}
	if len(found) == 0 && x.d.Limited() && x.d.Colocated() {
		found = x.higher(BothLimits)
	}
	return found
}

// higher looks for the nearest tier.
func (x *relaxing) higher(change Change) []Relaxation {
	for tier := x.d.HighestTier + 1; tier <= len(x.t.Tiers()); tier++ {
		r := Relaxation{Change: change, HighestTier: tier}
		if tier == len(x.t.Tiers()) {
			r.HighestTier = 0
		}
		if x.possible(tier) && x.works(&r) {
			return []Relaxation{r}
		}
	}
	return nil
}

// possible says whether sums leave it open that some domain of a tier holds the gang; it saves solving.
func (x *relaxing) possible(tier int) bool {
	lo, hi := x.t.Domains(tier)
	for v := lo; v < hi; v++ {
		if x.bound(v) == x.total {
			return true
		}
	}
	return false
}

// fewer members: of one role, workers before servers before others; of several only if one is not enough. No role loses
// its last member.
func (x *relaxing) fewer() (found []Relaxation) {
	roles := x.byTraffic()
	for _, role := range roles {
		if r, ok := x.fewerOf(Relaxation{Change: FewerMembers}, role); ok {
			found = append(found, r)
		}
	}
	if len(found) == 0 && len(roles) > 1 {
		return x.fewerOfSeveral(roles)
	}
	return found
}

// byTraffic are the roles that can lose members: those who need some, workers first.
func (x *relaxing) byTraffic() (roles []int) {
	for _, kinds := range [][]gang.Traffic{{gang.Worker, gang.HeterWorker}, {gang.Server}, {gang.Silent}} {
		for r := range x.d.Roles {
			if slices.Contains(kinds, x.d.Roles[r].Traffic) && x.spare(r) > 0 {
				roles = append(roles, r)
			}
		}
	}
	return roles
}

// spare is how many members of a role may go: those that do not run, but for one if none does.
func (x *relaxing) spare(role int) int {
	if len(x.d.Roles[role].Placed) == 0 {
		return int(max(0, x.need[role]-1))
	}
	return int(x.need[role])
}

func (x *relaxing) by(role, count int) Fewer {
	return Fewer{Role: role, Name: x.d.Roles[role].Name, By: count, Minimum: x.d.Roles[role].Minimum - count}
}

// fewerOf one role: the least that works, on top of a change.
func (x *relaxing) fewerOf(base Relaxation, role int) (best Relaxation, ok bool) {
	step := x.step(role)
	guess := (int(x.need[role]) - x.best.Together[role] + step - 1) / step
	least := smallest(x.spare(role)/step, guess, func(n int) bool {
		r := base
		r.Fewer = append(slices.Clone(base.Fewer), x.by(role, n*step))
		r.wholeGroups = step > 1
		works := x.works(&r)
		if works {
			best = r
		}
		return works
	})
	return best, least > 0
}

// step is how many members make whole parallel groups, if the role's minimum does.
func (x *relaxing) step(role int) int {
	if x.d.Pattern != gang.Collective || x.d.Roles[role].Traffic != gang.Worker {
		return 1
	}
	pods := int(traffic.PodsPerGroup(x.d.GroupSize, max(1, int(x.t.GPUs(x.d.Roles[role].Request)))))
	if x.d.Roles[role].Minimum%pods != 0 {
		return 1
	}
	return pods
}

// fewerOfSeveral takes all it can off role after role until it works, and then gives back as much as it can, to the last
// role first: so that servers stay rather than workers.
func (x *relaxing) fewerOfSeveral(roles []int) []Relaxation {
	r := Relaxation{Change: FewerMembers}
	works := false
	for i := 0; i < len(roles) && !works; i++ {
		r.Fewer = append(r.Fewer, x.by(roles[i], x.spare(roles[i])))
		works = i > 0 && x.works(&r)
	}
	if !works {
		return nil
	}
	for i := len(r.Fewer) - 1; i >= 0; i-- {
		base := r
		base.Fewer = slices.Delete(slices.Clone(r.Fewer), i, i+1)
		if x.works(&base) {
			r = base
		} else if less, ok := x.fewerOf(base, r.Fewer[i].Role); ok {
			less.Fewer = slices.Insert(base.Fewer, i, less.Fewer[len(less.Fewer)-1])
			r = less
		}
	}
	return []Relaxation{r}
}

// MaxSolves is how often Explain calls Solve at most: once for the demand as it is, and then for each kind of change.
const MaxSolves = 1 + tierSolves + fewerSolves + moreSolves

const (
	tierSolves  = 2*tree.MaxTiers + 1
	fewerSolves = 40
	moreSolves  = 26
)

// relaxing looks for changes with which a gang fits.
type relaxing struct {
	*pendingGang
	o      solver.Options
	stop   interrupt
	best   *DomainRoom // of the tier that decides
	solves int
	until  int // no more solves than that for this kind
}

func (x *relaxing) all() []Relaxation {
	var all []Relaxation
	for _, kind := range []struct {
		solves int
		find   func() []Relaxation
	}{{tierSolves, x.limits}, {fewerSolves, x.fewer}, {moreSolves, x.more}} {
		x.until = x.solves + kind.solves
		all = append(all, kind.find()...)
	}
	return all
}

// works says whether the demand fits with a change, and notes the plan.
func (x *relaxing) works(r *Relaxation) bool {
	if x.solves == x.until {
		return false
	}
	x.solves++
	plan, err := r.Try(x.t, x.d, x.o)
	if errors.Is(err, solver.ErrStopped) {
		panic(interrupted{})
	}
	r.Plan = plan
	return err == nil
}

// smallest number from 1 to most with which it works, if what works does so with more, too. The search begins at a guess,
// and then beside it, so that a right guess takes two tries.
func smallest(most, guess int, works func(n int) bool) (least int) {
	lo, hi := 1, most
	next := min(max(guess, lo), hi)
	for try := 0; lo <= hi; try++ {
		if works(next) {
			least, hi = next, next-1
		} else {
			lo = next + 1
		}
		switch {
		case try > 0:
			next = lo + (hi-lo)/2
		case least > 0:
			next = hi
		default:
			next = lo
		}
	}
	return least
}

// interrupt is Options.Stop. An explanation is left by a panic with interrupted, of which catchInterrupt makes ErrStopped.
type interrupt func() bool

type interrupted struct{}

func (i interrupt) check() {
	if i != nil && i() {
		panic(interrupted{})
	}
}

func catchInterrupt(err *error) {
	switch cause := recover().(type) {
	case nil:
	case interrupted:
		*err = solver.ErrStopped
	default:
		panic(cause)
	}
}
