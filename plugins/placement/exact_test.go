// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
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
		o.NoExact = true
		searched, searchErr := placement.Solve(topology, d, o)
		if !all.Whole {
			require.ErrorIs(t, err, placement.ErrNoFit, "seed %d", seed)
			require.ErrorIs(t, searchErr, placement.ErrNoFit, "seed %d", seed)
			missing++
			continue
		}
		found++
		require.NoError(t, err, "seed %d", seed)
		require.NoError(t, placement.Check(topology, d, plan), "seed %d", seed)
		if plan.Optimal {
			optimal++
			require.InDeltaSlice(t, all.Score[:], score(plan), 1e-9, "seed %d: there is a better plan", seed)
		}
		if searchErr == nil {
			require.NoError(t, placement.Check(topology, d, searched), "seed %d", seed)
			require.False(t, plan.Optimal && bruteforce.ScoreOf(in, searched.Cost).Less(bruteforce.ScoreOf(in, plan.Cost)), "seed %d", seed)
			if searched.Optimal {
				require.InDeltaSlice(t, all.Score[:], score(searched), 1e-9, "seed %d: there is a better plan", seed)
			}
		}
	}
	require.Greater(t, optimal, found*9/10, "small jobs are planned exactly")
}
