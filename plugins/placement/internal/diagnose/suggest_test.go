// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// Trials of one kind of change stop at its bound.
func TestSuggestionsAreBounded(test *testing.T) {
	t, err := tree.New(tree.Spec{
		Resources: []string{"gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers(),
		Nodes: []tree.NodeSpec{{Name: "n1", Free: []int64{20}}},
	})
	require.NoError(test, err)
	d := &gang.Demand{}
	for r := range 12 {
		role := gang.Role{Name: fmt.Sprint("role", r), Request: []int64{1}, Minimum: 300}
		for i := range role.Minimum {
			role.Pending = append(role.Pending, i)
		}
		d.Roles = append(d.Roles, role)
	}
	e, err := Diagnose(t, d, solver.Options{})
	require.NoError(test, err)
	require.Nil(test, e.Plan)
	require.LessOrEqual(test, e.Solves, MaxSolves)
	for r := range e.Roles {
		require.Positive(test, e.Roles[r].Missing)
	}
	require.Len(test, e.Suggestions, 1, "no role alone is what is too many")
	require.Equal(test, MoreCapacity, e.Suggestions[0].Change)
}

// An explanation that is stopped, at any point, leaves the topology as it was.
func TestExplanationIsStopped(test *testing.T) {
	stopped := 0
	for seed := range int64(200) {
		t, d, o := tightDemand(seed)
		before := placementtest.Snapshot(t)
		for n := 1; n < 40; n *= 3 {
			asked := 0
			o.Stop = func() bool {
				asked++
				return asked >= n
			}
			e, err := Diagnose(t, d, o)
			if err != nil {
				require.ErrorIs(test, err, solver.ErrStopped, "seed %d, question %d", seed, n)
				require.Nil(test, e)
				stopped++
			}
			require.Equal(test, before, placementtest.Snapshot(t), "seed %d, question %d", seed, n)
		}
	}
	require.Greater(test, stopped, 300)
}

// A trial puts everything back, also when it fails.
func TestCapacityIncreaseIsUndone(test *testing.T) {
	for seed := range int64(200) {
		t, d, o := tightDemand(seed)
		before := placementtest.Snapshot(t)
		grants := make([]NodeIncrease, 0, t.Nodes())
		for n := range t.Nodes() {
			grants = append(grants, NodeIncrease{Node: tree.NodeID(n), Amounts: []int64{int64(n), int64(n % 3)}})
		}
		_, err := (&Suggestion{Change: MoreCapacity, Increases: grants}).Try(t, d, o)
		if err != nil {
			require.ErrorIs(test, err, solver.ErrNoFit)
		}
		require.Equal(test, before, placementtest.Snapshot(t))
	}
}
