// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// kept reports whether a plan of all cases keeps its promises; it gives the plan, nil if there is none.
func kept(test *testing.T, t *tree.Topology, d *gang.Demand, o Options, seed int64) *Plan {
	test.Helper()
	plan, err := Solve(t, d, o)
	if err != nil {
		require.ErrorIs(test, err, ErrNoFit, "seed %d", seed)
		return nil
	}
	require.NoError(test, legal.Check(t, d, plan.Assignments), "seed %d", seed)
	cost, err := traffic.Evaluate(t, d, plan.Assignments)
	require.NoError(test, err)
	require.Equal(test, cost, plan.Cost, "seed %d", seed)
	all := len(plan.Assignments) + len(plan.Left)
	for r := range d.Roles {
		all -= len(d.Roles[r].Pending)
	}
	require.Zero(test, all, "seed %d: every pending member has a node or is left", seed)
	for _, m := range plan.Left {
		for _, a := range plan.Assignments {
			require.False(test, a.Role == m.Role && a.Index > m.Index, "seed %d: the lowest indexes go first", seed)
		}
	}
	return plan
}

func TestPlansAreLegalAndTheSameEveryTime(test *testing.T) {
	plans := 0
	for seed := range int64(400) {
		t, d, o := tightCase(seed)
		t.Shape([]int64{1, 1})
		before := placementtest.Snapshot(t)
		plan := kept(test, t, d, o, seed)
		require.Equal(test, before, placementtest.Snapshot(t), "seed %d: solving changes nothing", seed)
		require.True(test, allReturned(t), "seed %d: an assignment is left full", seed)
		again := kept(test, t, d, o, seed)
		require.Equal(test, plan, again, "seed %d", seed)

		// The same on a topology that was built again, whose caches are empty.
		t, d, o = tightCase(seed)
		require.Equal(test, plan, kept(test, t, d, o, seed), "seed %d", seed)
		if plan != nil {
			plans++
		}
	}
	require.Greater(test, plans, 100)
}

func TestTheOrderOfNodesDoesNotMatter(test *testing.T) {
	for seed := range int64(200) {
		t, d, o := tightCase(seed)
		spec := tree.Spec{Resources: t.Resources(), Accelerators: []string{"gpu"}, Tiers: t.Tiers()}
		for n := range tree.NodeID(t.Nodes()) {
			node := tree.NodeSpec{Name: t.NodeName(n), Free: t.Free(tree.DomainID(n)), Islands: t.Islands(n)}
			for tier := tree.NodeTier + 1; tier < len(t.Tiers()); tier++ {
				node.Domains = append(node.Domains, t.LocalName(t.Ancestor(n, tier)))
			}
			spec.Nodes = append(spec.Nodes, node)
		}
		rand.New(rand.NewSource(seed)).Shuffle(len(spec.Nodes), func(i, j int) { spec.Nodes[i], spec.Nodes[j] = spec.Nodes[j], spec.Nodes[i] })
		shuffled, err := tree.New(spec)
		require.NoError(test, err)
		for v := range t.Root() {
			require.Equal(test, t.DomainName(v), shuffled.DomainName(v))
		}
		require.Equal(test, kept(test, t, d, o, seed), kept(test, shuffled, d, o, seed), "seed %d", seed)
	}
}

// pricedAndBusy is what the objective looks at first and second.
func pricedAndBusy(plan *Plan, o Options) [2]float64 {
	if o.Objective == BusiestFirst {
		return [2]float64{plan.Cost.BusiestSeconds, plan.Cost.WeightedBytes}
	}
	return [2]float64{plan.Cost.WeightedBytes, plan.Cost.BusiestSeconds}
}

func TestNoSearchBeatsAnOptimalPlan(test *testing.T) {
	compared := 0
	for seed := range int64(300) {
		t, d, o := tightCase(seed)
		o.noExact = false
		exact := kept(test, t, d, o, seed)
		o.noExact = true
		searched := kept(test, t, d, o, seed)
		require.False(test, exact == nil && searched != nil, "seed %d", seed)
		if exact == nil || searched == nil || !exact.Optimal || d.Colocation == gang.None || len(exact.Left) > 0 || len(searched.Left) > 0 {
			continue
		}
		compared++
		a, b := pricedAndBusy(exact, o), pricedAndBusy(searched, o)
		require.LessOrEqual(test, a[0], b[0]*(1+1e-9), "seed %d", seed)
	}
	require.Greater(test, compared, 50)
}

func TestJobsOfManySizesOnARandomCluster(test *testing.T) {
	// Sizes on both sides of what is searched exactly, and of what counts as a large job.
	random := rand.New(rand.NewSource(1))
	free := make([]int64, 60)
	for i := range free {
		free[i] = int64(random.Intn(9))
	}
	for _, members := range []int{1, 2, 7, 60, 128, 129} {
		for pattern := gang.Single; pattern <= gang.Pipeline; pattern++ {
			t := placementtest.GPUTree(test, free...)
			d := &gang.Demand{Pattern: pattern, GroupSize: members % 5, Roles: []gang.Role{
				{Name: "ps", CommRole: gang.Server, Request: []int64{0}, Minimum: 1},
				{Name: "worker", CommRole: gang.Worker, Request: []int64{1}},
			}}
			for i := range members {
				d.Roles[1].Pending = append(d.Roles[1].Pending, i)
			}
			d.Roles[0].Pending = slices.Clone(d.Roles[1].Pending[:(members+7)/8])
			d.Roles[1].Minimum = members
			for _, o := range []Options{{}, {noExact: true}, {Objective: BusiestFirst}} {
				require.NotNil(test, kept(test, t, d, o, int64(members)), "%d members, pattern %d", members, pattern)
			}
		}
	}
}

func TestNoMoreMembersFit(test *testing.T) {
	left := 0
	for seed := range int64(600) {
		t, d, o := tightCase(seed)
		if d.Colocation == gang.Required {
			continue
		}
		for r := range d.Roles {
			d.Roles[r].Minimum /= 2
		}
		plan := kept(test, t, d, o, seed)
		if plan == nil || len(plan.Left) == 0 {
			continue
		}
		left++
		count := make([]int, len(d.Roles))
		for r := range d.Roles {
			count[r] = len(d.Roles[r].Placed)
		}
		for _, a := range plan.Assignments {
			count[a.Role]++
		}
		// One more of a role, with as many of the roles before it and the minimum of those after it.
		for _, m := range plan.Left {
			more := *d
			more.Roles = slices.Clone(d.Roles)
			for r := range m.Role + 1 {
				more.Roles[r].Minimum = count[r]
			}
			more.Roles[m.Role].Minimum++
			_, err := Solve(t, &more, o)
			require.ErrorIs(test, err, ErrNoFit, "seed %d: one more of role %d fits", seed, m.Role)
		}
	}
	require.Greater(test, left, 50)
}
