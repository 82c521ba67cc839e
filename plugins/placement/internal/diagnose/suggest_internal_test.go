// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/placementtest"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

func TestSmallest(test *testing.T) {
	for most := range 40 {
		for least := 1; least <= most+1; least++ {
			for _, guess := range []int{-1, 0, 1, least - 1, least, least + 1, most, most + 7} {
				tries := 0
				found := smallest(most, guess, func(n int) bool {
					tries++
					require.GreaterOrEqual(test, n, 1)
					require.LessOrEqual(test, n, most)
					return n >= least
				})
				want := least
				if least > most {
					want = 0
				}
				require.Equal(test, want, found, "1 to %d, guess %d", most, guess)
				require.LessOrEqual(test, tries, bits.Len(uint(most))+2)
				if guess == least && least <= most {
					require.LessOrEqual(test, tries, 2)
				}
			}
		}
	}
}

// Trials of one kind of change stop at its bound, and what was found until then is kept.
func TestRelaxingIsBounded(test *testing.T) {
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
	e, err := Explain(t, d, solver.Options{})
	require.NoError(test, err)
	require.Nil(test, e.Plan)
	require.LessOrEqual(test, e.Solves, MaxSolves)
	fewer := e.Relaxations[0]
	require.Equal(test, FewerMembers, fewer.Change)
	for r := range e.Roles {
		require.Positive(test, e.Roles[r].Missing)
	}
	_, err = fewer.Try(t, d, solver.Options{})
	require.NoError(test, err)
}

// A trial puts everything back, also when it fails.
func TestGrantIsUndone(test *testing.T) {
	for seed := range int64(200) {
		t, d, o := tightDemand(seed)
		before := placementtest.Snapshot(t)
		grants := make([]Grant, 0, t.Nodes())
		for n := range t.Nodes() {
			grants = append(grants, Grant{Node: tree.NodeID(n), Amounts: []int64{int64(n), int64(n % 3)}})
		}
		_, err := (&Relaxation{Change: MoreFree, Grants: grants}).Try(t, d, o)
		if err != nil {
			require.ErrorIs(test, err, solver.ErrNoFit)
		}
		require.Equal(test, before, placementtest.Snapshot(t))
	}
}
