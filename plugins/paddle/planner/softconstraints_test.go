// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// workers is a demand of workers with a GPU each.
func workers(n, minimum int) *placement.Demand {
	role := placement.Role{Name: "worker", CommRole: placement.Worker, Request: []int64{1}, Minimum: minimum}
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
		"none failed":                    {workers: 3, minimum: 3, want: map[string]int{"r0n0": 3}},
		"one failed":                     {workers: 3, minimum: 3, failed: []placement.NodeID{0}, want: map[string]int{"r1n0": 2, "r1n1": 1}, spared: true},
		"all that are left do not do":    {workers: 6, minimum: 6, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 4, "r0n1": 2}},
		"all failed":                     {workers: 3, minimum: 3, failed: []placement.NodeID{0, 1, 2, 3}, want: map[string]int{"r0n0": 3}},
		"others are not eligible":        {workers: 2, minimum: 2, failed: []placement.NodeID{0}, eligible: []placement.NodeID{0, 3}, want: map[string]int{"r0n0": 2}},
		"some beyond the minimum":        {workers: 6, minimum: 2, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 1, "r0n1": 2, "r1n0": 2, "r1n1": 1}},
		"some have no capacity anywhere": {workers: 11, minimum: 2, failed: []placement.NodeID{0}, want: map[string]int{"r0n0": 4, "r0n1": 2, "r1n0": 2, "r1n1": 1}},
		"none has capacity":              {workers: 10, minimum: 10, failed: []placement.NodeID{0}},
		"the node that is not eligible":  {workers: 2, minimum: 1, failed: []placement.NodeID{0}, eligible: []placement.NodeID{3}, want: map[string]int{"r1n1": 1}},
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
			s := &softConstraints{own: [][]int32{nil}, failed: test.failed}
			found, fulfilled, err := s.solveAvoidingFailedNodes(topology, d, placement.Options{})
			require.Same(t, before, d.Roles[0].Eligible, "the demand stays as it was")
			if test.want == nil {
				require.ErrorIs(t, err, placement.ErrNoFit)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, nodesOf(topology, found))
			require.Equal(t, test.spared, fulfilled != d)
			require.Len(t, found.Left, test.workers-len(found.Assignments))
		})
	}
}
