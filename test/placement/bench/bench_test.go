// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// drawn returns the instances of `make bench-placement`, by their seeds, that tests measure.
func drawn() map[uint64]int {
	if instances.Some(0, 1) == 0 {
		return map[uint64]int{20: 200}
	}
	return map[uint64]int{1: 500, 20: 500}
}

func TestPlansAreOptimal(t *testing.T) {
	for seed, n := range drawn() {
		o := measureOptimality(Settings{Seed: seed, Instances: n}, instances.Drawn, io.Discard)
		require.Empty(t, o.BrokenPromises, "seed %d", seed)
		require.Zero(t, o.Missed, "seed %d, instances %v", seed, o.MissedInstances)
		require.LessOrEqual(t, o.Mean, 1.005, "seed %d, worst %v", seed, o.Worst)
		require.LessOrEqual(t, o.P99, 1.05, "seed %d, worst %v", seed, o.Worst)
		require.Greater(t, o.Compared, n/2)
	}
}

func TestPlansAreNeverAboveTheBaselines(t *testing.T) {
	overall, results := measureBaselines(Settings{Seed: 20, Clusters: instances.Some(12, 40)}, io.Discard)
	require.Empty(t, overall.Broken)
	require.Zero(t, overall.NoPlan)
	require.Zero(t, overall.Worse, "clusters %v", overall.WorseInstances)
	require.GreaterOrEqual(t, overall.BusiestNotAbove, equalNotAbove, "clusters %v", overall.BusiestAbove)
	require.Len(t, results, 4)
}

// What Run writes can be read back, is judged, and is the same for the same seed.
func TestRunWritesAReport(t *testing.T) {
	read := func() *Report {
		folder := t.TempDir()
		settings := Settings{Seed: 4, Instances: 20, Clusters: 4, Folder: folder, Only: []string{"optimality", "baselines"}}
		require.NoError(t, Run(settings, io.Discard))
		text, err := os.ReadFile(filepath.Join(folder, "placement.json"))
		require.NoError(t, err)
		report := &Report{}
		require.NoError(t, json.Unmarshal(text, report))
		return report
	}
	report := read()
	require.EqualValues(t, 4, report.Seed)
	require.Equal(t, 20, report.Optimality.Instances)
	require.Len(t, report.Baselines, 4)
	require.Nil(t, report.Speed)
	require.Len(t, report.Bars, len(report.bars()))
	require.Equal(t, report, read())
}

func TestRatio(t *testing.T) {
	for _, c := range []struct{ cost, optimum, want float64 }{
		{0, 0, 1}, {5, 0, 2}, {3, 2, 1.5}, {2 * (1 + 1e-12), 2, 1}, {1, 2, 0.5},
	} {
		require.InDelta(t, c.want, ratio(c.cost, c.optimum), 1e-15, "%v by %v", c.cost, c.optimum)
	}
}

// placing returns a Placing with these costs.
func placing(name string, priced, busiest float64) *Placing {
	return &Placing{Name: name, Cost: placement.Cost{WeightedBytes: priced, BusiestSeconds: busiest}}
}

func TestCompare(t *testing.T) {
	overall, results := compare([]*Duel{
		{Planner: placing("planner", 2e9, 1), Others: []*Placing{placing("a", 4e9, 9), {Name: "b", Cornered: true}}},
		{Planner: placing("planner", 2e9, 1), Others: []*Placing{placing("a", 2e9, 1), placing("b", 8e9, 1)}}, // equal
		{Planner: placing("planner", 2e9, 3), Others: []*Placing{placing("a", 2e9, 2), placing("b", 8e9, 1)}}, // equal, planner is busier
		{Planner: placing("planner", 2e9, 1), Others: []*Placing{placing("a", 1e9, 1), placing("b", 8e9, 1)}}, // a is cheaper
		{Planner: placing("planner", 0, 0), Others: []*Placing{placing("a", 1e6, 1), placing("b", 16e9, 1)}},  // planner costs nothing
		{Others: []*Placing{{Name: "a", Cornered: true}, placing("b", 1, 1)}},                                 // planner has none
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

func TestCasesRunOnASmallFleet(t *testing.T) {
	c := job{name: "a row", fleet: scale{400, 20, 4}, jobs: 12, draw: speedCases([]int{1})[2].draw}
	rows, err := c.run(instances.NewFleet(1, c.fleet.nodes, c.fleet.racks, c.fleet.blocks))
	require.NoError(t, err)
	require.Len(t, rows, 1)
	require.Equal(t, 12, rows[0].Jobs)
	require.Equal(t, 8, rows[0].Pods)
	require.Positive(t, rows[0].Sorts)

	c.jobs = 1
	rows, err = c.run(instances.NewFleet(1, c.fleet.nodes, c.fleet.racks, c.fleet.blocks))
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.False(t, rows[0].Warm)
	require.True(t, rows[1].Warm)
}

func TestAJobThatDoesNotFitTheFleetIsSaid(t *testing.T) {
	c := job{name: "too much", fleet: scale{4, 2, 1}, jobs: 1, draw: speedCases([]int{1})[1].draw}
	_, err := c.run(instances.NewFleet(1, 4, 2, 1))
	require.ErrorContains(t, err, "too much")
}
