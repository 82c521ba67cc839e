// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// tightDemand is a case that is often too large.
func tightDemand(seed int64) (*tree.Topology, *gang.Demand, solver.Options) {
	t, d, random := placementtest.TightCase(seed)
	random.Intn(4)
	return t, d, solver.Options{Objective: solver.Objective(random.Intn(2))}
}

func TestDiagnoseRandomDemands(test *testing.T) {
	fit, tight := 0, 0
	far := 0
	kinds := map[Change]int{}
	causes := map[BlockerKind]int{}
	for seed := range int64(1500) {
		t, d, o := tightDemand(seed)
		before := placementtest.Snapshot(t)
		plan, err := solver.Solve(t, d, o)
		e, wrong := Diagnose(t, d, o)
		require.NoError(test, wrong, "seed %d", seed)
		require.Equal(test, before, placementtest.Snapshot(t), "seed %d", seed)
		if err == nil {
			fit++
			require.Equal(test, plan, e.Plan)
			require.Empty(test, e.Suggestions)
			continue
		}
		require.ErrorIs(test, err, solver.ErrNoFit)
		require.Nil(test, e.Plan)
		again, wrong := Diagnose(t, d, o)
		require.NoError(test, wrong)
		require.Equal(test, e, again, "seed %d", seed)
		require.LessOrEqual(test, e.Solves, MaxSolves)
		tight++
		causes[e.Blocker.Kind]++
		for i := range e.Suggestions {
			r := &e.Suggestions[i]
			kinds[r.Change]++
			_, wrong := r.Try(t, d, o)
			require.NoError(test, wrong, "seed %d: %v", seed, r)
			require.Equal(test, before, placementtest.Snapshot(t), "seed %d", seed)
			if !nearest(test, t, d, o, r) {
				far++
			}
		}
	}
	require.Greater(test, fit, 100)
	require.Greater(test, tight, 500)
	require.LessOrEqual(test, far, kinds[FewerMembers]/50, "fewer members than must be")
	for _, change := range []Change{HigherTier, PreferColocation, BothLimits, FewerMembers, MoreCapacity} {
		require.Positive(test, kinds[change], change)
	}
	for _, kind := range []BlockerKind{Insufficient, NoNode, NotEligible, NoServerNearby, RunningApart} {
		require.Positive(test, causes[kind], kind)
	}
}

// nearest reports whether one step less of a change is not enough. Where the trials are used up it may be.
func nearest(test *testing.T, t *tree.Topology, d *gang.Demand, o solver.Options, r *Suggestion) bool {
	test.Helper()
	less := *r
	switch {
	case r.Change == HigherTier || r.Change == BothLimits:
		if less.HighestTier--; less.HighestTier < 0 {
			less.HighestTier = len(t.Tiers()) - 1
		}
		if less.HighestTier <= d.HighestTier {
			return true
		}
	case r.Change == FewerMembers && r.By > 1 && !r.wholeGroups:
		less.By--
	default:
		return true
	}
	_, err := less.Try(t, d, o)
	return errors.Is(err, solver.ErrNoFit)
}

// What Diagnose counts is true: what fits together does, and where it says that not all do, Solve finds no plan either.
func TestDiagnoseCountsWhatFits(test *testing.T) {
	counted, low := 0, 0
	for seed := range int64(1500) {
		t, d, _ := tightDemand(seed)
		if e, err := Diagnose(t, d, solver.Options{}); err == nil && e.Plan == nil {
			counted++
			low += countsRight(test, t, d, e, seed)
		}
	}
	require.Greater(test, counted, 500)
	require.LessOrEqual(test, low, counted/100, "rooms that hold more than was counted")
}

func countsRight(test *testing.T, t *tree.Topology, d *gang.Demand, e *Diagnosis, seed int64) (low int) {
	test.Helper()
	capacity, within := &e.Domain, *d
	within.Pattern, within.HighestTier, within.Colocation = gang.Single, 0, gang.Preferred
	within.Roles = slices.Clone(d.Roles)
	missing := false
	for r := range within.Roles {
		role := &within.Roles[r]
		here := tree.NewNodeSet(t)
		lo, hi := t.NodesOf(capacity.ID)
		for n := lo; n < hi; n++ {
			if role.Eligible == nil || role.Eligible.Has(n) {
				here.Add(n)
			}
		}
		role.Eligible = here
		need := max(0, role.Minimum-len(role.Placed))
		require.LessOrEqual(test, capacity.Fits[r], need)
		missing = missing || capacity.Fits[r] < need
		role.Minimum = len(role.Placed) + capacity.Fits[r]
		role.Pending = role.Pending[:capacity.Fits[r]]
	}
	_, err := solver.Solve(t, &within, solver.Options{})
	require.NoError(test, err, "seed %d, domain %s", seed, capacity.Name)
	if e.Blocker.Kind != RunningApart {
		require.Equal(test, missing, e.Blocker.Kind.ofCapacity(), "seed %d, %+v", seed, e.Blocker)
	}
	if !missing {
		return 0
	}
	for r := range within.Roles {
		role := &within.Roles[r]
		role.Minimum = max(d.Roles[r].Minimum, len(role.Placed))
		role.Pending = d.Roles[r].Pending[:role.Minimum-len(role.Placed)]
	}
	if _, err := solver.Solve(t, &within, solver.Options{}); !errors.Is(err, solver.ErrNoFit) {
		return 1
	}
	return 0
}

func (c BlockerKind) ofCapacity() bool {
	return c != RunningApart && c != NoServerNearby && c != NotFound
}

func FuzzDiagnose(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(test *testing.T, seed int64) {
		t, d, o := tightDemand(seed)
		before := placementtest.Snapshot(t)
		e, err := Diagnose(t, d, o)
		require.NoError(test, err)
		again, err := Diagnose(t, d, o)
		require.NoError(test, err)
		require.Equal(test, e, again)
		require.LessOrEqual(test, e.Solves, MaxSolves)
		for i := range e.Suggestions {
			_, err := e.Suggestions[i].Try(t, d, o)
			require.NoError(test, err)
		}
		require.Equal(test, before, placementtest.Snapshot(t))
	})
}
