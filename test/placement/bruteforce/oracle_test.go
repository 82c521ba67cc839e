// SPDX-License-Identifier: Apache-2.0

package bruteforce_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// anywhere puts every pending member on a node at random, whether it fits or not.
func anywhere(rng *rand.Rand, in *instances.Instance) (plan []placement.Assignment) {
	for r := range in.Demand.Roles {
		for _, index := range in.Demand.Roles[r].Pending {
			plan = append(plan, placement.Assignment{Role: r, Index: index, Node: placement.NodeID(rng.IntN(in.Topology.Nodes()))})
		}
	}
	return plan
}

func TestPriceEqualsEvaluateOnRandomPlans(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for index := range uint64(1500) {
		in := instances.Small(11, index)
		plan := anywhere(rng, in)
		want, err := placement.Evaluate(in.Topology, in.Demand, plan)
		require.NoError(t, err)
		got := bruteforce.Price(in, plan)
		require.InEpsilon(t, 1+want.Priced, 1+got.Priced, 1e-9, "instance %d\n%s%v", index, in, plan)
		require.InEpsilon(t, 1+want.BusiestSeconds, 1+got.Busiest, 1e-9, "instance %d\n%s%v", index, in, plan)
	}
}

func TestBestIsCheckedAndPricedByTheProduct(t *testing.T) {
	const limit = 2e6
	for index := range uint64(500) {
		in := instances.Small(12, index)
		r := bruteforce.Best(in, limit)
		if !r.Complete || !r.Whole {
			continue
		}
		require.NoError(t, placement.Check(in.Topology, in.Demand, &placement.Plan{Assignments: r.Assignments}), "%d\n%s", index, in)
		want, err := placement.Evaluate(in.Topology, in.Demand, r.Assignments)
		require.NoError(t, err)
		require.InEpsilon(t, 1+want.Priced, 1+r.Cost.Priced, 1e-9, "instance %d\n%s", index, in)
		require.InEpsilon(t, 1+want.BusiestSeconds, 1+r.Cost.Busiest, 1e-9, "instance %d\n%s", index, in)
	}
}

// TestBestIsTheLeastOfAllPlans enumerates every assignment of very small jobs, with nothing left out.
func TestBestIsTheLeastOfAllPlans(t *testing.T) {
	tried := 0
	for index := range uint64(500) {
		in := instances.Small(13, index)
		plan := anywhere(rand.New(rand.NewPCG(1, 1)), in)
		if plans := math.Pow(float64(in.Topology.Nodes()), float64(len(plan))); plans > 700 {
			continue
		}
		tried++
		whole, least := false, math.Inf(1)
		var all func(i int)
		all = func(i int) {
			if i < len(plan) {
				for n := range in.Topology.Nodes() {
					plan[i].Node = placement.NodeID(n)
					all(i + 1)
				}
				return
			}
			if placement.Check(in.Topology, in.Demand, &placement.Plan{Assignments: plan}) != nil {
				return
			}
			cost, err := placement.Evaluate(in.Topology, in.Demand, plan)
			require.NoError(t, err)
			whole = true
			least = min(least, bruteforce.Cost{Priced: cost.Priced, Busiest: cost.BusiestSeconds}.Of(in.Options.Objective))
		}
		all(0)
		r := bruteforce.Best(in, 1e6)
		require.True(t, r.Complete)
		require.Equal(t, whole, r.Whole, "instance %d\n%s", index, in)
		if whole {
			require.InEpsilon(t, 1+least, 1+r.Cost.Of(in.Options.Objective), 1e-9, "instance %d\n%s", index, in)
		}
	}
	require.Greater(t, tried, 40)
}
