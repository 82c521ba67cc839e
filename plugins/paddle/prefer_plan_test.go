// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

func TestPenaltiesInRanks(t *testing.T) {
	places, failed := []placement.NodeID{1}, []placement.NodeID{2}
	for name, test := range map[string]struct {
		members        int
		own            []int32
		places, failed []placement.NodeID
		want           []int32
	}{
		"nothing":            {members: 2},
		"preferences":        {members: 2, own: []int32{0, 7, 5, 0}, want: []int32{0, 7, 5, 0}},
		"places":             {members: 2, places: places, want: []int32{1, 0, 1, 1}},
		"failed nodes":       {members: 2, failed: failed, want: []int32{0, 0, 3, 0}},
		"places and failed":  {members: 2, places: places, failed: failed, want: []int32{1, 0, 4, 1}},
		"all":                {members: 2, own: []int32{0, 7, 5, 0}, places: places, failed: failed, want: []int32{1, 21, 16 + 66, 1}},
		"places, no members": {places: places, want: []int32{1, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			most := int32(0)
			for _, penalty := range test.own {
				most = max(most, penalty)
			}
			require.Equal(t, test.want, newScale(test.members, most).penalties(4, test.own, test.places, test.failed))
		})
	}
}

// What all members together have of a lower rank is less than what one has of a higher one.
func TestRanksOfPenaltiesAreStrict(t *testing.T) {
	for _, members := range []int{1, 3, 100, maxStep} {
		for _, most := range []int32{1, 900, 2000} {
			p := newScale(members, most).penalties(4, []int32{0, most, 1, most}, []placement.NodeID{0, 1}, []placement.NodeID{3})
			place, preference := newScale(members, most).penalties(2, nil, []placement.NodeID{0}, nil)[1], p[2]-1
			require.Less(t, int64(members)*int64(place), int64(preference))
			require.Less(t, int64(members)*int64(p[1]+place), int64(p[3]-p[1]-place), "%d members, preferences up to %d", members, most)
		}
	}
}

func TestPenaltiesThatAreTooLargeAreReduced(t *testing.T) {
	for _, members := range []int{1, maxStep, 1 << 16} {
		p := newScale(members, math.MaxInt32).penalties(3, []int32{1, math.MaxInt32, math.MaxInt32}, []placement.NodeID{0}, []placement.NodeID{2})
		require.Positive(t, p[0], "the least preference counts")
		require.Less(t, p[0], p[1])
		require.Less(t, p[1], p[2])
		require.LessOrEqual(t, p[2], int32(math.MaxInt32))
	}
}

// workers is a demand of workers with a GPU each.
func workers(n, minimum int) *placement.Demand {
	role := placement.Role{Name: "worker", Traffic: placement.Worker, Request: []int64{1}, Minimum: minimum}
	for i := range n {
		role.Pending = append(role.Pending, i)
	}
	return &placement.Demand{Pattern: placement.Collective, Roles: []placement.Role{role}}
}

// nodesOf is how many members of a plan each node gets.
func nodesOf(t *placement.Topology, plan *placement.Plan) map[string]int {
	counts := map[string]int{}
	for _, a := range plan.Assignments {
		counts[t.NodeName(a.Node)]++
	}
	return counts
}

//	r0           r1
//
// n0: 4  n1: 2    n0: 2  n1: 1      GPUs free
func TestNodesThatFailedComeLast(t *testing.T) {
	for name, test := range map[string]struct {
		workers, minimum int
		failed           []placement.NodeID
		eligible         []placement.NodeID
		want             map[string]int
		spared           bool
	}{
		"none failed":                   {workers: 3, minimum: 3, want: map[string]int{"r0n0": 3}},
		"one failed":                    {workers: 3, minimum: 3, failed: []placement.NodeID{0}, want: map[string]int{"r1n0": 2, "r1n1": 1}, spared: true},
		"all that are left do not do":   {workers: 6, minimum: 6, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 4, "r0n1": 2}},
		"all failed":                    {workers: 3, minimum: 3, failed: []placement.NodeID{0, 1, 2, 3}, want: map[string]int{"r0n0": 3}},
		"others are not eligible":       {workers: 2, minimum: 2, failed: []placement.NodeID{0}, eligible: []placement.NodeID{0, 3}, want: map[string]int{"r0n0": 2}},
		"some beyond the minimum":       {workers: 6, minimum: 2, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 1, "r0n1": 2, "r1n0": 2, "r1n1": 1}},
		"some have no room wherever":    {workers: 11, minimum: 2, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 4, "r0n1": 2, "r1n0": 2, "r1n1": 1}},
		"none has room":                 {workers: 10, minimum: 10, failed: []placement.NodeID{0}},
		"the node that is not eligible": {workers: 2, minimum: 1, failed: []placement.NodeID{0}, eligible: []placement.NodeID{3}, want: map[string]int{"r1n1": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			topology := gpuRacks(t, []int64{4, 2}, []int64{2, 1})
			d := workers(test.workers, test.minimum)
			if test.eligible != nil {
				d.Roles[0].Eligible = placement.NewNodeSet(topology)
				for _, id := range test.eligible {
					d.Roles[0].Eligible.Add(id)
				}
			}
			before := d.Roles[0].Eligible
			l := &leaning{own: [][]int32{nil}, failed: test.failed}
			found, fulfilled, err := l.spare(topology, d, placement.Options{})
			require.Same(t, before, d.Roles[0].Eligible, "the demand stays as it was")
			if test.want == nil {
				require.ErrorIs(t, err, placement.ErrNoFit)
				return
			}
			require.NoError(t, err)
			require.NoError(t, placement.Check(topology, d, found))
			require.Equal(t, test.want, nodesOf(topology, found))
			require.Equal(t, test.spared, fulfilled != d)
			require.Len(t, found.Left, test.workers-len(found.Assignments))
		})
	}
}
