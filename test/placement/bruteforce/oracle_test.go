// SPDX-License-Identifier: Apache-2.0

package bruteforce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// everyPlan of all pending members that Check lets pass, with nothing left out, is handed to look.
func everyPlan(in *instances.Instance, look func(plan []placement.Assignment, score bruteforce.Score)) {
	var plan []placement.Assignment
	for r := range in.Demand.Roles {
		for _, index := range in.Demand.Roles[r].Pending {
			plan = append(plan, placement.Assignment{Role: r, Index: index})
		}
	}
	var from func(i int)
	from = func(i int) {
		if i < len(plan) {
			for n := range in.Topology.Nodes() {
				plan[i].Node = placement.NodeID(n)
				from(i + 1)
			}
			return
		}
		if legal.Check(in.Topology, in.Demand, plan) != nil {
			return
		}
		cost, err := placement.Evaluate(in.Topology, in.Demand, plan)
		if err != nil {
			panic(err)
		}
		look(plan, bruteforce.ScoreOf(in, cost))
	}
	from(0)
}

func TestBestIsTheLeastOfAllPlans(t *testing.T) {
	whole := map[placement.Pattern]int{}
	for index := range uint64(1500) {
		in := instances.Drawn(13, index, instances.Limits{Nodes: 5, Pods: 4, Varied: index%2 == 0})
		if in.Pods() > 5 {
			continue
		}
		var least *bruteforce.Score
		everyPlan(in, func(_ []placement.Assignment, score bruteforce.Score) {
			if least == nil || score.Less(*least) {
				least = &score
			}
		})
		r := bruteforce.Best(in, nil, 1e6)
		require.True(t, r.Complete)
		require.Equal(t, least != nil, r.Whole, "instance %d\n%s", index, in)
		if r.Whole {
			whole[in.Demand.Pattern]++
			require.InDeltaSlice(t, least[:], r.Score[:], 1e-9*(1+least[0]), "instance %d\n%s", index, in)
			cost, err := placement.Evaluate(in.Topology, in.Demand, r.Assignments)
			require.NoError(t, err)
			require.Equal(t, r.Score, bruteforce.ScoreOf(in, cost))
			known, err := placement.Solve(in.Topology, in.Demand, in.Options)
			require.NoError(t, err)
			again := bruteforce.Best(in, known, 1e6)
			require.InDeltaSlice(t, r.Score[:], again.Score[:], 1e-9*(1+least[0]), "instance %d\n%s", index, in)
		}
	}
	for pattern := placement.Single; pattern <= placement.Pipeline; pattern++ {
		require.Greater(t, whole[pattern], 50)
	}
}

// Brute force does not believe a plan that is not allowed, or that is not the cheapest.
func TestAKnownPlanIsChecked(t *testing.T) {
	in := small(t, 2, 2, []int64{3, 1}, 0)
	bad := &placement.Plan{Assignments: []placement.Assignment{{Role: 0, Index: 0, Node: 1}, {Role: 0, Index: 1, Node: 1}, {Role: 1, Index: 0}, {Role: 1, Index: 1}}}
	require.Error(t, legal.Check(in.Topology, in.Demand, bad.Assignments))
	require.InDelta(t, 2, bruteforce.Best(in, bad, 1e6).Score[0], 1e-9)
	dear := &placement.Plan{Assignments: []placement.Assignment{{Role: 0, Index: 0}, {Role: 0, Index: 1}, {Role: 1, Index: 0}, {Role: 1, Index: 1, Node: 1}}}
	require.InDelta(t, 2, bruteforce.Best(in, dear, 1e6).Score[0], 1e-9)
}

// small returns a job of servers and workers of 1 cpu on nodes of one rack with the given cpus.
func small(t *testing.T, servers, workers int, cpus []int64, minimum int) *instances.Instance {
	t.Helper()
	spec := placement.TopologySpec{Resources: instances.Resources(), Tiers: placement.DefaultTiers("rack")}
	for i, cpu := range cpus {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: string(rune('a' + i)), Domains: []string{"r"}, Free: []int64{cpu, 0, 0}})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	d := instances.Servers(servers, workers, []int64{1, 0, 0}, []int64{1, 0, 0})
	d.ParameterBytes = 0 // costs in sizes of the model
	d.Roles[1].Minimum = minimum
	return &instances.Instance{Topology: topology, Demand: d}
}

func TestBestByHand(t *testing.T) {
	for _, c := range []struct {
		name             string
		servers, workers int
		cpus             []int64
		minimum          int
		feasible, whole  bool
		priced, busiest  float64
	}{
		// One member must go to the second node. A server there talks to 2 workers, M/2 each way: both nodes carry M.
		{"servers and workers on two nodes", 2, 2, []int64{3, 1}, 2, true, true, 2, 1},
		{"all on one node cost nothing", 2, 2, []int64{4, 9}, 2, true, true, 0, 0},
		{"no capacity", 2, 2, []int64{2, 1}, 2, false, false, 0, 0},
		{"the minimum fits", 1, 3, []int64{2, 1}, 2, true, false, 0, 0},
	} {
		r := bruteforce.Best(small(t, c.servers, c.workers, c.cpus, c.minimum), nil, 1e6)
		require.True(t, r.Complete, c.name)
		require.Equal(t, []bool{c.feasible, c.whole}, []bool{r.Feasible, r.Whole}, c.name)
		require.Equal(t, bruteforce.Score{c.priced, c.busiest}, r.Score, c.name)
	}
	require.False(t, bruteforce.Best(small(t, 2, 2, []int64{3, 1}, 2), nil, 2).Complete)
}
