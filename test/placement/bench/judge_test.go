// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestRatio(t *testing.T) {
	for _, c := range []struct{ cost, optimum, want float64 }{
		{0, 0, 1}, {5, 0, 2}, {3, 2, 1.5}, {2 * (1 + 1e-12), 2, 1}, {1, 2, 0.5},
	} {
		require.InDelta(t, c.want, ratio(c.cost, c.optimum), 1e-15, "%v by %v", c.cost, c.optimum)
	}
}

// placing costs so much over a busiest link of so many seconds.
func placing(name string, priced, busiest float64) *Placing {
	return &Placing{Name: name, Cost: placement.Cost{WeightedBytes: priced, BusiestSeconds: busiest}}
}

func TestCompare(t *testing.T) {
	overall, results := compare([]*Duel{
		{Ours: placing("ours", 2e9, 1), Others: []*Placing{placing("a", 4e9, 9), {Name: "b", Cornered: true}}},
		{Ours: placing("ours", 2e9, 1), Others: []*Placing{placing("a", 2e9, 1), placing("b", 8e9, 1)}}, // equal
		{Ours: placing("ours", 2e9, 3), Others: []*Placing{placing("a", 2e9, 2), placing("b", 8e9, 1)}}, // equal, ours is busier
		{Ours: placing("ours", 2e9, 1), Others: []*Placing{placing("a", 1e9, 1), placing("b", 8e9, 1)}}, // a is cheaper
		{Ours: placing("ours", 0, 0), Others: []*Placing{placing("a", 1e6, 1), placing("b", 16e9, 1)}},  // ours costs nothing
		{Others: []*Placing{{Name: "a", Cornered: true}, placing("b", 1, 1)}},                           // ours has none
	})
	require.Equal(t, 6, overall.Clusters)
	require.Equal(t, 1, overall.NoPlan)
	require.Equal(t, []int{3, 5}, overall.WorseInstances)
	require.Equal(t, 2, overall.Worse)
	require.Equal(t, 2, overall.Equal)
	require.Equal(t, []int{2}, overall.BusiestAbove)
	require.InDelta(t, 0.5, overall.BusiestNotAbove, 0)
	require.Equal(t, "a", results[0].Name)
	require.Equal(t, []int{1, 1}, []int{results[0].Cornered, results[1].Cornered})
	require.InDelta(t, 1, results[0].CostRatio, 1e-12, "2, 1, 1, 1/2, and both below one model")
	require.InDelta(t, math.Pow(4*4*4*16, 1./4), results[1].CostRatio, 1e-9)
}

func TestBars(t *testing.T) {
	met := func(r *Report) map[string]bool {
		all := map[string]bool{}
		for _, b := range r.bars() {
			all[b.Name] = b.Met
		}
		return all
	}
	speed := func(name string, nodes int, ms float64) Speed {
		return Speed{Case: name, Nodes: nodes, MS: ms, LeastMS: ms, Sorts: ms / 0.5}
	}
	good := met(&Report{
		Optimality: &Optimality{Instances: DefaultInstances, Mean: 1.005, P99: 1.05},
		Overall:    &Comparison{Clusters: DefaultClusters, BusiestNotAbove: 0.99},
		Speed:      []Speed{speed(caseRing, 10_000, 5), speed(caseRing, 100_000, 20), speed(caseRow, 5_000, 150), speed(caseRow, 50_000, 150)},
	})
	require.Len(t, good, 14)
	for name, met := range good {
		require.True(t, met, name)
	}
	bad := met(&Report{
		Optimality: &Optimality{Instances: 100, Missed: 1, Mean: 1.006, P99: 1.06, Broken: 1},
		Overall:    &Comparison{Clusters: 9, NoPlan: 1, Worse: 1, BusiestNotAbove: 0.98, Broken: []string{"x"}},
		Speed:      []Speed{speed(caseRing, 10_000, 5.1), speed(caseRing, 100_000, 21), speed(caseRow, 5_000, 151), speed(caseRow, 50_000, 700)},
	})
	require.Len(t, bad, 14)
	for name, met := range bad {
		require.False(t, met, name)
	}
}
