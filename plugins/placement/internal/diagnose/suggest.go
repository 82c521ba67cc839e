// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Change is what a Suggestion changes.
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
	// MoreCapacity adds to what is free on some nodes of one domain.
	MoreCapacity Change = "more free"
)

// Suggestion is one change with which a demand fits.
type Suggestion struct {
	Change Change
	// HighestTier to take (HigherTier, BothLimits); 0 is no limit.
	HighestTier int
	// Role of which By members are taken away, so that its minimum is Minimum (FewerMembers).
	Role, By, Minimum int
	// Increases of what is free in the domain, by node in ascending order (MoreCapacity).
	Increases []NodeIncrease

	wholeGroups bool // members come off by parallel groups
}

// NodeIncrease is more that is free on one node.
type NodeIncrease struct {
	Node    tree.NodeID
	Name    string
	Amounts []int64
}

// Try solves a demand with the change. The topology is unchanged afterwards. Errors are those of Solve.
func (r *Suggestion) Try(t *tree.Topology, d *gang.Demand, o solver.Options) (*solver.Plan, error) {
	mark := t.Begin()
	defer t.Rollback(mark)
	for i := range r.Increases {
		t.AddFree(r.Increases[i].Node, r.Increases[i].Amounts)
	}
	return solver.Solve(t, r.apply(d), o)
}

// apply returns the demand with the change, as far as it is one of the demand.
func (r *Suggestion) apply(d *gang.Demand) *gang.Demand {
	relaxed := *d
	if r.Change == HigherTier || r.Change == BothLimits {
		relaxed.HighestTier = r.HighestTier
	}
	if r.Change == PreferColocation || r.Change == BothLimits {
		relaxed.Colocation = gang.Preferred
	}
	relaxed.Roles = slices.Clone(d.Roles)
	if r.Change == FewerMembers {
		role := &relaxed.Roles[r.Role]
		role.Minimum -= r.By
		role.Pending = role.Pending[:len(role.Pending)-r.By]
	}
	return &relaxed
}

// MaxSolves is how often Diagnose calls Solve at most: once for the demand as it is, and then for each kind of change.
const MaxSolves = 1 + limitSolves + fewerSolves + moreSolves

const (
	limitSolves = 4
	fewerSolves = 6
	moreSolves  = 1
)

type suggester struct {
	*pendingGang
	o      solver.Options
	fit    *gangFit // in the best domain
	solves int
	until  int // no more solves than that for this kind of change
}

// all returns the nearest change of each kind: a limit that is lifted, fewer members, and more that is free.
func (s *suggester) all() (all []Suggestion, err error) {
	for _, kind := range []struct {
		solves int
		find   func() (Suggestion, bool, error)
	}{{limitSolves, s.higherLimit}, {fewerSolves, s.fewerReplicas}, {moreSolves, s.moreCapacity}} {
		s.until = s.solves + kind.solves
		found, ok, err := kind.find()
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, found)
		}
	}
	return all, nil
}

// works reports whether the demand fits with a change.
func (s *suggester) works(r *Suggestion) (bool, error) {
	if s.solves == s.until {
		return false, nil
	}
	s.solves++
	_, err := r.Try(s.t, s.d, s.o)
	if errors.Is(err, solver.ErrStopped) {
		return false, err
	}
	return err == nil, nil
}

// higherLimit lifts the highest tier to the nearest one that is enough, or to none; else colocation; else both.
func (s *suggester) higherLimit() (Suggestion, bool, error) {
	var tries []Suggestion
	higher := func(change Change) {
		for tier := s.d.HighestTier + 1; s.d.Limited() && tier <= len(s.t.Tiers()); tier++ {
			if s.possible(tier) {
				tries = append(tries, Suggestion{Change: change, HighestTier: tier % len(s.t.Tiers())})
			}
		}
	}
	higher(HigherTier)
	if s.d.Colocated() {
		if s.possible(s.t.TierOf(s.fit.domain)) {
			tries = append(tries, Suggestion{Change: PreferColocation})
		}
		higher(BothLimits)
	}
	for _, r := range tries {
		if ok, err := s.works(&r); ok || err != nil {
			return r, ok, err
		}
	}
	return Suggestion{}, false, nil
}

// possible reports whether sums leave it open that some domain of a tier holds the gang; it saves solving.
func (s *suggester) possible(tier int) bool {
	lo, hi := s.t.Domains(tier)
	for v := lo; v < hi; v++ {
		if s.bound(v) == s.total {
			return true
		}
	}
	return false
}

// fewerReplicas takes members off one role: off the workers if that is enough, else off the servers, else off others. No role loses its
// last member.
func (s *suggester) fewerReplicas() (Suggestion, bool, error) {
	for _, kinds := range [][]gang.CommRole{{gang.Worker, gang.PipelineWorker}, {gang.Server}, {gang.NoTraffic}} {
		for role := range s.d.Roles {
			if !slices.Contains(kinds, s.d.Roles[role].CommRole) {
				continue
			}
			if r, ok, err := s.fewerOf(role); ok || err != nil {
				return r, ok, err
			}
		}
	}
	return Suggestion{}, false, nil
}

// fewerOf takes the fewest members off a role with which the demand fits. It begins with as many as were found to have no capacity,
// and then halves what is left to try.
func (s *suggester) fewerOf(role int) (best Suggestion, ok bool, err error) {
	step := s.step(role)
	lo, hi := 1, s.spare(role)/step
	next := min(max((int(s.need[role]-s.fit.together[role])+step-1)/step, lo), hi)
	for try := 0; lo <= hi; try++ {
		by := next * step
		r := Suggestion{Change: FewerMembers, Role: role, By: by, Minimum: s.d.Roles[role].Minimum - by, wholeGroups: step > 1}
		works, err := s.works(&r)
		if err != nil {
			return best, false, err
		}
		if works {
			best, ok, hi = r, true, next-1
		} else {
			lo = next + 1
		}
		switch {
		case try > 0:
			next = lo + (hi-lo)/2
		case works: // the guess is right if one less is not enough
			next = hi
		default:
			next = lo
		}
	}
	return best, ok, nil
}

// spare is how many members of a role may go: those that do not run, but for one if none does.
func (s *suggester) spare(role int) int {
	if len(s.d.Roles[role].Placed) == 0 {
		return int(max(0, s.need[role]-1))
	}
	return int(s.need[role])
}

// step is how many members make whole parallel groups, if the role's minimum does.
func (s *suggester) step(role int) int {
	if s.d.Pattern != gang.Collective || s.d.Roles[role].CommRole != gang.Worker {
		return 1
	}
	pods := int(traffic.PodsPerGroup(s.d, max(1, int(s.t.GPUs(s.d.Roles[role].Request)))))
	if s.d.Roles[role].Minimum%pods != 0 {
		return 1
	}
	return pods
}

// moreWork bounds the nodes that are checked for more capacity, over all members.
const moreWork = 1 << 22

// moreCapacity makes capacity free in the best domain. Each member that does not fit gets it where least is
// short, one after the other.
func (s *suggester) moreCapacity() (Suggestion, bool, error) {
	r := Suggestion{Change: MoreCapacity}
	if s.runningDomains > 1 {
		return r, false, nil
	}
	c := &capacityIncrease{pendingGang: s.pendingGang, pack: s.pack(s.fit.domain), given: map[tree.NodeID][]int64{}, times: map[tree.NodeID]int{}}
	missing := int64(0)
	for _, role := range s.roles {
		for n := c.pack.together[role]; n < s.need[role]; n++ {
			if missing++; missing*int64(c.pack.hi-c.pack.lo) > moreWork || !c.give(role) {
				return r, false, nil
			}
		}
	}
	for n := c.pack.lo; n < c.pack.hi; n++ {
		if amounts := c.given[n]; slices.ContainsFunc(amounts, func(amount int64) bool { return amount > 0 }) {
			r.Increases = append(r.Increases, NodeIncrease{Node: n, Name: s.t.NodeName(n), Amounts: amounts})
		}
	}
	if missing == 0 {
		return r, false, nil
	}
	ok, err := s.works(&r)
	return r, ok, err
}

// capacityIncrease makes capacity for members in addition to those that a pack has placed.
type capacityIncrease struct {
	*pendingGang
	pack  *gangFit
	given map[tree.NodeID][]int64
	times map[tree.NodeID]int // that a node was given something
}

// give makes capacity for one member of a role on the eligible node that lacks least for it. Ties: the one that was given something
// least often, then the one with most free GPUs, then by name. It returns false if no node can have as much.
func (c *capacityIncrease) give(role int) bool {
	request := c.d.Roles[role].Request
	best, least := tree.NodeID(-1), shortage{}
	for n := c.pack.lo; n < c.pack.hi; n++ {
		if !c.d.Roles[role].Eligible.Has(n) {
			continue
		}
		short := c.shortage(c.pack.of(n), request)
		if best < 0 || cmp.Or(short.compare(least), cmp.Compare(c.times[n], c.times[best]),
			cmp.Compare(c.t.FreeGPUs(tree.DomainID(best)), c.t.FreeGPUs(tree.DomainID(n)))) < 0 {
			best, least = n, short
		}
	}
	if best < 0 {
		return false
	}
	c.times[best]++
	if c.given[best] == nil {
		c.given[best] = make([]int64, len(request))
	}
	left, given := c.pack.of(best), c.given[best]
	for i, amount := range request {
		if amount > 0 {
			more := max(0, amount-max(0, left[i]))
			left[i] = max(0, left[i]) + more - amount
			given[i] += more
		}
		if given[i]+max(0, c.t.Free(tree.DomainID(best))[i]) > tree.MaxAmount {
			return false
		}
	}
	return len(c.t.FreeIslands(best)) == 0 || c.t.FreeGPUs(tree.DomainID(best))+c.t.GPUs(given) <= math.MaxInt16
}
