// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// tightCase is a random small cluster and a random demand that is somewhat too large for it, as a rule.
func tightCase(seed int64) (*Topology, *Demand, Options) {
	random := rand.New(rand.NewSource(seed))
	tiers := DefaultTiers([][]string{{"rack"}, {"rack", "block"}}[random.Intn(2)]...)
	spec := TopologySpec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tiers}
	for i := range 2 + random.Intn(7) {
		gpus := random.Intn(9)
		node := NodeSpec{Name: fmt.Sprint("n", i), Free: []int64{int64(random.Intn(19) - 2), int64(gpus)}}
		for tier := range len(tiers) - 2 {
			node.Domains = append(node.Domains, fmt.Sprint(tiers[2+tier].Name, random.Intn(3-tier)))
		}
		if random.Intn(3) == 0 {
			node.Islands = []Island{{4, gpus / 2}, {4 + random.Intn(2), gpus - gpus/2}}
			node.Islands[1].Size = max(node.Islands[1].Size, node.Islands[1].Free)
		}
		spec.Nodes = append(spec.Nodes, node)
	}
	t, err := NewTopology(spec)
	if err != nil {
		panic(err)
	}
	d := &Demand{Pattern: Pattern(random.Intn(4)), Colocation: Colocation(random.Intn(3)), GroupSize: random.Intn(5)}
	if random.Intn(2) == 0 {
		d.HighestTier = 1 + random.Intn(len(tiers)-1)
	}
	if random.Intn(4) == 0 {
		d.ColocationTier = 1 + random.Intn(len(tiers)-1)
	}
	for r, traffic := range []Traffic{Server, Worker, HeterWorker, Silent}[:1+random.Intn(4)] {
		d.Roles = append(d.Roles, tightRole(random, t, r, traffic))
	}
	return t, d, Options{noExact: random.Intn(4) == 0, Objective: Objective(random.Intn(2))}
}

func tightRole(random *rand.Rand, t *Topology, number int, traffic Traffic) Role {
	role := Role{Name: fmt.Sprint("role", number), Traffic: traffic, Stage: 1}
	role.Request = []int64{int64(random.Intn(5)), int64(random.Intn(2) * random.Intn(5))}
	runs := random.Intn(4) == 0
	for i := range 1 + random.Intn(6) {
		if runs && random.Intn(2) == 0 {
			role.Placed = append(role.Placed, Placed{Index: i, Node: NodeID(random.Intn(t.Nodes()))})
		} else {
			role.Pending = append(role.Pending, i)
		}
	}
	role.Minimum = len(role.Pending) + len(role.Placed)
	if random.Intn(4) == 0 {
		role.Minimum = random.Intn(role.Minimum + 1)
	}
	if random.Intn(4) == 0 {
		role.Eligible = NewNodeSet(t)
		for n := range t.Nodes() {
			if random.Intn(2) == 0 {
				role.Eligible.Add(NodeID(n))
			}
		}
	}
	return role
}

// snapshot is all of a topology that may change, but for its caches.
type snapshot struct {
	free                []int64
	islands, sizes      []int16
	open, undo          int
	shapesThatWentWrong int
}

func snapshotOf(t *Topology) snapshot {
	s := snapshot{
		free: slices.Clone(t.free), islands: slices.Clone(t.gpus.free), sizes: slices.Clone(t.gpus.size),
		open: t.open, undo: len(t.journal),
	}
	for _, shape := range t.fits.shapes {
		fresh := newFitShape(t, shape.request, nil)
		if !slices.Equal(fresh.fit, shape.fit) || !slices.Equal(fresh.sum, shape.sum) || !slices.Equal(fresh.nodes, shape.nodes) {
			s.shapesThatWentWrong++
		}
	}
	return s
}

func TestExplainRandomDemands(test *testing.T) {
	fit, tight := 0, 0
	kinds := map[Change]int{}
	causes := map[Cause]int{}
	for seed := range int64(1500) {
		t, d, o := tightCase(seed)
		before := snapshotOf(t)
		plan, err := Solve(t, d, o)
		e, wrong := Explain(t, d, o)
		require.NoError(test, wrong, "seed %d", seed)
		require.Equal(test, before, snapshotOf(t), "seed %d", seed)
		if err == nil {
			fit++
			require.Equal(test, plan, e.Plan)
			require.Empty(test, e.Relaxations)
			continue
		}
		require.ErrorIs(test, err, ErrNoFit)
		require.Nil(test, e.Plan)
		again, wrong := Explain(t, d, o)
		require.NoError(test, wrong)
		require.Equal(test, e, again, "seed %d", seed)
		require.Equal(test, e.Details(), again.Details())
		require.LessOrEqual(test, len(e.String()), 300)
		require.LessOrEqual(test, e.Solves, MaxSolves)
		tight++
		causes[e.Cause()]++
		for i := range e.Relaxations {
			r := &e.Relaxations[i]
			kinds[r.Change]++
			relaxed, wrong := r.Try(t, d, o)
			require.NoError(test, wrong, "seed %d: %v", seed, r)
			require.Equal(test, r.Plan, relaxed)
			require.Equal(test, before, snapshotOf(t), "seed %d", seed)
			nearest(test, t, d, o, r, seed)
		}
	}
	require.Greater(test, fit, 100)
	require.Greater(test, tight, 500)
	for _, change := range []Change{HigherTier, PreferColocation, BothLimits, FewerMembers, MoreFree} {
		require.Positive(test, kinds[change], change)
	}
	for _, cause := range []Cause{TooLittle, Scattered, NotTogether, NotEligible, NoServer, RunningApart} {
		require.Positive(test, causes[cause], cause)
	}
}

// nearest checks that one step less of a change is not enough.
func nearest(test *testing.T, t *Topology, d *Demand, o Options, r *Relaxation, seed int64) {
	test.Helper()
	less := *r
	switch {
	case r.Change == HigherTier || r.Change == BothLimits:
		if less.HighestTier--; less.HighestTier < 0 {
			less.HighestTier = len(t.tiers) - 1
		}
		if less.HighestTier <= d.HighestTier {
			return
		}
	case r.Change == FewerMembers && r.Fewer[0].By > 1 && !r.wholeGroups:
		less.Fewer = slices.Clone(r.Fewer)
		less.Fewer[0].By--
	default:
		return
	}
	_, err := less.Try(t, d, o)
	// The heuristic search may miss a plan where less is asked of it; the exact one may not.
	if !o.noExact {
		require.ErrorIs(test, err, ErrNoFit, "seed %d: %+v", seed, r)
	}
}

// What Explain counts is true: what fits together does, and where it says that not all do, Solve finds no plan either.
func TestExplainCountsWhatFits(test *testing.T) {
	counted, low := 0, 0
	for seed := range int64(1500) {
		t, d, _ := tightCase(seed)
		if e, err := Explain(t, d, Options{}); err == nil && e.Plan == nil {
			for _, tier := range e.Tiers {
				for _, room := range tier.Best {
					counted++
					low += countsRight(test, t, d, room, seed)
				}
			}
		}
	}
	require.Greater(test, counted, 3000)
	require.LessOrEqual(test, low, counted/200, "rooms that hold more than was counted")
}

func countsRight(test *testing.T, t *Topology, d *Demand, room DomainRoom, seed int64) (low int) {
	test.Helper()
	within := *d
	within.Pattern, within.HighestTier, within.Colocation = Single, 0, Preferred
	within.Roles = slices.Clone(d.Roles)
	missing := false
	for r := range within.Roles {
		role := &within.Roles[r]
		here := NewNodeSet(t)
		lo, hi := t.NodesOf(room.Domain)
		for n := lo; n < hi; n++ {
			if role.Eligible == nil || role.Eligible.Has(n) {
				here.Add(n)
			}
		}
		role.Eligible = here
		need := max(0, role.Minimum-len(role.Placed))
		require.LessOrEqual(test, room.Together[r], need)
		require.LessOrEqual(test, int64(room.Together[r]), room.Alone[r])
		missing = missing || room.Together[r] < need
		role.Minimum = len(role.Placed) + room.Together[r]
		role.Pending = role.Pending[:room.Together[r]]
	}
	_, err := Solve(t, &within, Options{})
	require.NoError(test, err, "seed %d, domain %s", seed, room.Name)
	require.Equal(test, missing, slices.ContainsFunc(room.Stops, func(s Stop) bool { return s.Cause.ofRoom() }), "seed %d, %+v", seed, room)
	if !missing {
		return 0
	}
	for r := range within.Roles {
		role := &within.Roles[r]
		role.Minimum = max(d.Roles[r].Minimum, len(role.Placed))
		role.Pending = d.Roles[r].Pending[:role.Minimum-len(role.Placed)]
	}
	if _, err := Solve(t, &within, Options{}); !errors.Is(err, ErrNoFit) {
		return 1
	}
	return 0
}

func (c Cause) ofRoom() bool { return c != RunningApart && c != NoServer && c != NotFound }

func FuzzExplain(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(test *testing.T, seed int64) {
		t, d, o := tightCase(seed)
		before := snapshotOf(t)
		e, err := Explain(t, d, o)
		require.NoError(test, err)
		again, err := Explain(t, d, o)
		require.NoError(test, err)
		require.Equal(test, e, again)
		require.LessOrEqual(test, len(e.String()), 300)
		require.NotEmpty(test, e.Details())
		require.LessOrEqual(test, e.Solves, MaxSolves)
		for i := range e.Relaxations {
			plan, err := e.Relaxations[i].Try(t, d, o)
			require.NoError(test, err)
			require.Equal(test, e.Relaxations[i].Plan, plan)
		}
		require.Equal(test, before, snapshotOf(t))
	})
}
