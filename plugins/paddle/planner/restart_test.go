// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

//	r0           r1
//
// n0: 2  n1: 2    n0: 2  n1: 1      GPUs free; nodes 0 to 3
func TestPlacesThatAreStillFree(t *testing.T) {
	only := func(ids ...placement.NodeID) *placement.NodeSet {
		set := placement.NewNodeSet(gpuRacks(t, []int64{2, 2}, []int64{2, 1}))
		for _, id := range ids {
			set.Add(id)
		}
		return set
	}
	for name, test := range map[string]struct {
		ran      []placement.NodeID
		failed   []placement.NodeID
		eligible *placement.NodeSet
		placed   []placement.Placed
		want     []placement.NodeID // by member; noNode for one that is planned
	}{
		"all":          {ran: []placement.NodeID{1, 1, 3}, want: []placement.NodeID{1, 1, 3}},
		"one is new":   {ran: []placement.NodeID{1, noNode, 3}, want: []placement.NodeID{1, noNode, 3}},
		"one failed":   {ran: []placement.NodeID{1, 1, 3}, failed: []placement.NodeID{3}, want: []placement.NodeID{1, 1, noNode}},
		"not eligible": {ran: []placement.NodeID{1, 1, 3}, eligible: only(0, 3), want: []placement.NodeID{noNode, noNode, 3}},
		"no capacity":  {ran: []placement.NodeID{3, 3, 3}, want: []placement.NodeID{3, noNode, noNode}},
		"one runs":     {ran: []placement.NodeID{1, 1, 3}, placed: []placement.Placed{{Index: 7, Node: 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			topology := gpuRacks(t, []int64{2, 2}, []int64{2, 1})
			d := workers(3, 3)
			d.Roles[0].Eligible, d.Roles[0].Placed = test.eligible, test.placed
			s := &softConstraints{previousNodes: [][]placement.NodeID{test.ran}, failed: test.failed}
			got := s.stillFree(topology, d)
			require.Equal(t, int64(7), topology.Free(topology.Root())[0], "nothing is taken")
			if test.want == nil {
				require.Empty(t, got)
				return
			}
			at := []placement.NodeID{noNode, noNode, noNode}
			for _, a := range got {
				at[a.Index] = a.Node
			}
			require.Equal(t, test.want, at)
		})
	}
	require.Empty(t, (&softConstraints{}).stillFree(gpuRacks(t, []int64{2}), workers(1, 1)), "nothing is remembered")
}

//	r0           r1
//
// n0: 2  n1: 2    n0: 2  n1: 1      GPUs free; nodes 0 to 3
func TestPlanAroundMembers(t *testing.T) {
	topology := gpuRacks(t, []int64{2, 2}, []int64{2, 1})
	at := func(nodes ...placement.NodeID) []placement.Assignment {
		var fixed []placement.Assignment
		for i, id := range nodes {
			if id != noNode {
				fixed = append(fixed, placement.Assignment{Index: i, Node: id})
			}
		}
		return fixed
	}
	for name, test := range map[string]struct {
		fixed   []placement.Assignment
		workers int
		minimum int
		change  func(*placement.Demand)
		want    []placement.Assignment
		left    int
	}{
		"all":               {at(2, 3, 2), 3, 3, nil, at(2, 3, 2), 0},
		"the last":          {at(2, 2), 3, 3, nil, at(2, 2, 3), 0},
		"one in between":    {at(2, noNode, 2), 3, 3, nil, at(2, 3, 2), 0},
		"more than fit":     {at(3), 8, 1, nil, nil, 1},
		"capacity is taken": {at(3, 3), 3, 3, nil, nil, -1},
		"too few":           {at(2), 8, 8, nil, nil, -1},
		"within one rack":   {at(2), 4, 4, func(d *placement.Demand) { d.HighestTier = placement.NodeTier + 1 }, nil, -1},
		"not in one rack":   {at(0, 2), 2, 2, func(d *placement.Demand) { d.HighestTier = placement.NodeTier + 1 }, nil, -1},
		"beside a running":  {at(noNode, 0), 2, 2, func(d *placement.Demand) { d.Roles[0].Placed = []placement.Placed{{Index: 5, Node: 0}} }, at(0, 0), 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := workers(test.workers, test.minimum)
			if test.change != nil {
				test.change(d)
			}
			found, err := planAround(topology, d, test.fixed, placement.Options{})
			require.Equal(t, int64(7), topology.Free(topology.Root())[0], "nothing is taken")
			require.Len(t, d.Roles[0].Pending, test.workers, "the demand stays as it was")
			if test.left < 0 {
				require.Error(t, err)
				return
			}
			require.NoError(t, err)
			require.Len(t, found.Left, test.left)
			if test.want != nil {
				require.Equal(t, test.want, found.Assignments)
			}
			cost, err := placement.Evaluate(topology, d, found.Assignments)
			require.NoError(t, err)
			require.Equal(t, cost, found.Cost)
		})
	}
}

//	r0           r1
//
// n0: 2  n1: 2    n0: 2  n1: 1      GPUs free; nodes 0 to 3
func TestPlanOfGangThatStays(t *testing.T) {
	topology := gpuRacks(t, []int64{2, 2}, []int64{2, 1})
	found, err := placement.Solve(topology, workers(2, 2), placement.Options{})
	require.NoError(t, err)
	stays := func(ran ...placement.NodeID) *placement.Plan {
		s := &softConstraints{previousNodes: [][]placement.NodeID{ran}}
		return s.keepPreviousNodes(topology, workers(2, 2), found, placement.Options{})
	}
	require.Equal(t, map[string]int{"r1n0": 1, "r1n1": 1}, nodesOf(topology, stays(2, 3)))
	require.Nil(t, stays(found.Assignments[0].Node, found.Assignments[1].Node), "that is the plan")
	require.Nil(t, stays(noNode, noNode), "nothing is known")
	d := workers(2, 2)
	d.HighestTier = placement.NodeTier + 1
	s := &softConstraints{previousNodes: [][]placement.NodeID{{0, 2}}}
	require.Nil(t, s.keepPreviousNodes(topology, d, found, placement.Options{}), "the limit is new")
}

// A server and a worker in one rack and in two: nodes 0 and 1 are in the first rack, 2 and 3 in the second.
func TestKeepsLimits(t *testing.T) {
	topology := gpuRacks(t, []int64{2, 2}, []int64{2, 1})
	rack := placement.NodeTier + 1
	for name, test := range map[string]struct {
		worker placement.NodeID
		change func(*placement.Demand)
		want   bool
	}{
		"no limit":               {2, func(*placement.Demand) {}, true},
		"the highest tier":       {1, func(d *placement.Demand) { d.HighestTier = rack }, true},
		"above the highest tier": {2, func(d *placement.Demand) { d.HighestTier = rack }, false},
		"a server in the rack":   {1, func(d *placement.Demand) { d.Colocation, d.ColocationTier = placement.Required, rack }, true},
		"no server in the rack":  {2, func(d *placement.Demand) { d.Colocation, d.ColocationTier = placement.Required, rack }, false},
		"no server on the node":  {1, func(d *placement.Demand) { d.Colocation = placement.Required }, false},
		"a worker of a stage, no server": {2, func(d *placement.Demand) {
			d.Colocation, d.Roles[1].CommRole = placement.Required, placement.PipelineWorker
		}, false},
		"another pod needs no server":       {2, func(d *placement.Demand) { d.Colocation, d.Roles[1].CommRole = placement.Required, placement.NoTraffic }, true},
		"a server is preferred, not needed": {2, func(d *placement.Demand) { d.Colocation = placement.Preferred }, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{{CommRole: placement.Server}, {CommRole: placement.Worker}}}
			test.change(d)
			require.Equal(t, test.want, keepsLimits(topology, d, []placement.Assignment{{Role: 0, Node: 0}, {Role: 1, Node: test.worker}}))
		})
	}
}

// Two plans for the same members; which of them a gang that starts again takes.
func TestGangThatStartsAgainStays(t *testing.T) {
	plan := func(members int, priced, busiest float64, penalty int64) *placement.Plan {
		return &placement.Plan{
			Assignments: make([]placement.Assignment, members),
			Cost:        placement.Cost{WeightedBytes: priced, BusiestSeconds: busiest, Penalty: penalty},
		}
	}
	found := plan(4, 10, 10, 5)
	for name, test := range map[string]struct {
		kept   *placement.Plan
		change func(*Planner, *placement.Demand)
		want   bool
	}{
		"as good":                       {plan(4, 10, 10, 5), nil, true},
		"a tenth dearer":                {plan(4, 11, 99, 5), nil, true},
		"dearer than that":              {plan(4, 11.01, 10, 5), nil, false},
		"its uplink a tenth busier":     {plan(4, 99, 11, 5), func(p *Planner, _ *placement.Demand) { p.Arguments.Objective = placement.BusiestFirst }, true},
		"its uplink busier than that":   {plan(4, 10, 11.01, 5), func(p *Planner, _ *placement.Demand) { p.Arguments.Objective = placement.BusiestFirst }, false},
		"not a bit dearer":              {plan(4, 10.001, 10, 5), func(p *Planner, _ *placement.Demand) { p.Arguments.RestartTolerancePercent = 0 }, false},
		"twice as dear":                 {plan(4, 20, 10, 5), func(p *Planner, _ *placement.Demand) { p.Arguments.RestartTolerancePercent = 100 }, true},
		"its pods would rather be here": {plan(4, 10, 10, 6), nil, false},
		"one more has no capacity":      {plan(3, 1, 1, 1), nil, false},
		"traffic does not count":        {plan(4, 99, 99, 5), func(_ *Planner, d *placement.Demand) { d.Colocation = placement.None }, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := config.Default()
			p, d := &Planner{Config: Config{Arguments: &a}}, workers(4, 4)
			if test.change != nil {
				test.change(p, d)
			}
			require.Equal(t, test.want, p.worthKeeping(d, test.kept, found))
		})
	}
}
