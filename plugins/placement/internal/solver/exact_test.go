// SPDX-License-Identifier: Apache-2.0

package solver_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

func TestSolveAgainstAllPlans(t *testing.T) {
	found, missing, optimal := 0, 0, 0
	// Seeds that found something before: a part of the tree that is least busy and not the one with the fewest bytes in the
	// whole, roles of several sizes on a ring, penalties among plans that are as busy, members that run where nothing fits.
	seeds := []int64{3548, 7712, 420, 794, 1267, 2468, 2497, 3102, 16150}
	for found < 200 {
		seed := int64(found + missing)
		if found < len(seeds) {
			seed = seeds[found]
		}
		in := instances.Small(rand.New(rand.NewSource(seed)).Intn, instances.Limits{Nodes: 5, Pods: 4})
		topology, d, o := in.Topology, in.Demand, in.Options
		score := func(plan *placement.Plan) []float64 {
			score := bruteforce.ScoreOf(in, plan.Cost)
			return score[:]
		}
		all := bruteforce.Best(in, nil, 1e6)
		require.True(t, all.Complete)

		plan, err := placement.Solve(topology, d, o)
		searched, searchErr := placement.Solve(topology, d, solver.WithoutExact(o))
		if !all.Whole {
			require.ErrorIs(t, err, placement.ErrNoFit, "seed %d", seed)
			require.ErrorIs(t, searchErr, placement.ErrNoFit, "seed %d", seed)
			missing++
			continue
		}
		found++
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, legal.Check(topology, d, plan.Assignments), "seed %d", seed)
		if plan.Optimal {
			optimal++
			require.InDeltaSlice(t, all.Score[:], score(plan), 1e-9, "seed %d: there is a better plan", seed)
		}
		if searchErr == nil {
			require.NoError(t, legal.Check(topology, d, searched.Assignments), "seed %d", seed)
			require.False(t, plan.Optimal && bruteforce.ScoreOf(in, searched.Cost).Less(bruteforce.ScoreOf(in, plan.Cost)), "seed %d", seed)
			if searched.Optimal {
				require.InDeltaSlice(t, all.Score[:], score(searched), 1e-9, "seed %d: there is a better plan", seed)
			}
		}
	}
	require.Greater(t, optimal, found*9/10, "small jobs are planned exactly")
}

// The search for large jobs, on small ones: how far its plans are from the optimum.
func TestPlansWithoutExactSearchAreGood(t *testing.T) {
	var ratios []float64
	missed := 0
	for index := range uint64(instances.Some(200, 1000)) {
		in := instances.Drawn(20, index, instances.Brute)
		plan, err := placement.Solve(in.Topology, in.Demand, solver.WithoutExact(in.Options))
		if err != nil {
			require.ErrorIs(t, err, placement.ErrNoFit)
		}
		all := bruteforce.Best(in, plan, 100_000)
		switch {
		case !all.Complete:
		case all.Feasible != (plan != nil):
			missed++
		case plan != nil && all.Whole && len(plan.Left) == 0:
			require.NoError(t, legal.Check(in.Topology, in.Demand, plan.Assignments), "instance %d", index)
			cost, best := bruteforce.ScoreOf(in, plan.Cost)[0], all.Score[0]
			switch {
			case cost <= best*(1+1e-9):
				ratios = append(ratios, 1)
			case best == 0:
				ratios = append(ratios, 2)
			default:
				ratios = append(ratios, cost/best)
			}
		}
	}
	require.Greater(t, len(ratios), 100)
	require.LessOrEqual(t, missed, 1)
	require.LessOrEqual(t, stats.Mean(ratios), 1.03)
}
