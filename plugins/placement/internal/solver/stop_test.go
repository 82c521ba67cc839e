// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// stopAt answers true from the nth question on.
func stopAt(n int) (stop func() bool) {
	asked := 0
	return func() bool {
		asked++
		return asked >= n
	}
}

// A search that is stopped, at any point, leaves the topology as it was: the next search finds the same plan.
func TestASearchThatIsStoppedChangesNothing(test *testing.T) {
	stops := 0
	for seed := range int64(300) {
		t, d, o := tightCase(seed)
		t.Shape([]int64{1, 1})
		before := placementtest.Snapshot(t)
		want, wantErr := Solve(t, d, o)
		for n := 1; n < 40; n *= 3 {
			stopped := o
			stopped.Stop = stopAt(n)
			plan, err := Solve(t, d, stopped)
			if err != nil && wantErr == nil || n == 1 {
				require.ErrorIs(test, err, ErrStopped, "seed %d, question %d", seed, n)
				require.Nil(test, plan)
				stops++
			}
			require.Equal(test, before, placementtest.Snapshot(t), "seed %d, question %d", seed, n)
			require.True(test, allReturned(t), "seed %d, question %d: an assignment is left full", seed, n)
		}
		o.Stop = func() bool { return false }
		found, err := Solve(t, d, o)
		require.Equal(test, wantErr, err, "seed %d", seed)
		require.Equal(test, want, found, "seed %d", seed)
	}
	require.Greater(test, stops, 300)
}

// Every part of the search calls Stop often. With this effort most of the demands take minutes.
func TestALongSearchStopsSoon(test *testing.T) {
	const effort = 1000
	spec := tree.Spec{Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: tree.DefaultTiers("rack", "block")}
	for n := range 2000 {
		spec.Nodes = append(spec.Nodes, tree.NodeSpec{
			Name: fmt.Sprintf("n%04d", n), Domains: []string{fmt.Sprint("r", n/16), fmt.Sprint("b", n/256)},
			Free: []int64{int64(4 + n*7919%61), int64(n * 104729 % 9)},
		})
	}
	t, err := tree.New(spec)
	require.NoError(test, err)
	role := func(traffic gang.CommRole, members int, request ...int64) gang.Role {
		r := gang.Role{Name: fmt.Sprint("role", traffic), CommRole: traffic, Request: request, Minimum: members}
		for i := range members {
			r.Pending = append(r.Pending, i)
		}
		return r
	}
	for name, d := range map[string]*gang.Demand{
		"a ring":          {Pattern: gang.Collective, Roles: []gang.Role{role(gang.Worker, 600, 8, 3)}, GroupSize: 8},
		"a small ring":    {Pattern: gang.Collective, Roles: []gang.Role{role(gang.Worker, 30, 8, 5)}, GroupSize: 4},
		"many servers":    {Pattern: gang.ParameterServer, Roles: []gang.Role{role(gang.Server, 120, 13, 0), role(gang.Worker, 900, 7, 1)}},
		"few servers":     {Pattern: gang.ParameterServer, Roles: []gang.Role{role(gang.Server, 5, 33, 0), role(gang.Worker, 40, 17, 3)}},
		"in one block":    {Pattern: gang.ParameterServer, HighestTier: 3, Roles: []gang.Role{role(gang.Server, 40, 13, 0), role(gang.Worker, 400, 7, 1)}},
		"with colocation": {Pattern: gang.ParameterServer, Colocation: gang.Required, Roles: []gang.Role{role(gang.Server, 40, 13, 0), role(gang.Worker, 400, 7, 1)}},
		"too large":       {Pattern: gang.Collective, Roles: []gang.Role{role(gang.Worker, 20000, 8, 3)}},
	} {
		test.Run(name, func(test *testing.T) {
			for _, objective := range []Objective{BytesFirst, BusiestFirst} {
				var since time.Time
				longest := time.Duration(0)
				began := time.Now()
				o := Options{Effort: effort, Objective: objective, Stop: func() bool {
					if !since.IsZero() {
						longest = max(longest, time.Since(since))
					}
					since = time.Now()
					return time.Since(began) > time.Second/2
				}}
				_, err := Solve(t, d, o)
				if err != nil && !errors.Is(err, ErrNoFit) {
					require.ErrorIs(test, err, ErrStopped)
				}
				require.Less(test, longest, 2*time.Second)
				require.Less(test, time.Since(began), 5*time.Second)
			}
		})
	}
}
