// SPDX-License-Identifier: Apache-2.0

package solver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/internal/solver"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/placement/placementtest"
)

// gang is a role of "ps 2 8 0": a name, the members, cpu and GPUs of each. Servers are called ps, workers worker, heter
// workers of stage 1 heter1; all others are silent.
func gang(t testing.TB, line string) placement.Role {
	t.Helper()
	var name string
	var members int
	var cpu, gpus int64
	_, err := fmt.Sscan(line, &name, &members, &cpu, &gpus)
	require.NoError(t, err, line)
	traffic := map[string]placement.CommRole{"ps": placement.Server, "worker": placement.Worker, "heter1": placement.PipelineWorker}[name]
	role := placementtest.RoleOf(name, traffic, members, cpu, gpus)
	role.Stage = 1
	return role
}

// layout of a plan: for each node with members, how many of each role, as "n1: ps 1, worker 4".
func layout(topology *placement.Topology, d *placement.Demand, plan *placement.Plan) []string {
	lines := []string{}
	for n := range placement.NodeID(topology.Nodes()) {
		var roles []string
		for r := range d.Roles {
			count := 0
			for _, a := range plan.Assignments {
				if a.Role == r && a.Node == n {
					count++
				}
			}
			if count > 0 {
				roles = append(roles, fmt.Sprint(d.Roles[r].Name, " ", count))
			}
		}
		if len(roles) > 0 {
			lines = append(lines, topology.NodeName(n)+": "+strings.Join(roles, ", "))
		}
	}
	return lines
}

// solveCase is a gang on a cluster. Both the exact search and, without it, the one for large jobs must find the plan.
type solveCase struct {
	name    string
	nodes   []string // as clusterOf has them, of racks and blocks
	pattern placement.Pattern
	roles   []string
	change  func(topology *placement.Topology, d *placement.Demand)
	options placement.Options
	want    []string // nil for no plan
	priced  float64
	left    []int
}

func (c *solveCase) run(t *testing.T) {
	for _, noExact := range []bool{false, true} {
		topology := placementtest.ClusterOf(t, []string{"rack", "block"}, c.nodes...)
		d := &placement.Demand{Pattern: c.pattern}
		for _, line := range c.roles {
			d.Roles = append(d.Roles, gang(t, line))
		}
		if c.change != nil {
			c.change(topology, d)
		}
		o := c.options
		if noExact {
			o = solver.WithoutExact(o)
		}
		plan, err := placement.Solve(topology, d, o)
		if c.want == nil {
			require.ErrorIs(t, err, placement.ErrNoFit)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, legal.Check(topology, d, plan.Assignments))
		require.InDelta(t, c.priced, plan.Cost.WeightedBytes, 1e-9, "without exact search %v: %v", noExact, layout(topology, d, plan))
		require.Equal(t, c.want, layout(topology, d, plan), "without exact search: %v", noExact)
		require.Equal(t, c.left, placementtest.IndexesOf(plan.Left))
		require.True(t, noExact || plan.Optimal)
		again, err := placement.Evaluate(topology, d, plan.Assignments)
		require.NoError(t, err)
		require.Equal(t, again, plan.Cost)
	}
}

func (c *solveCase) named(t *testing.T) { t.Run(c.name, c.run) }

const ps, ring = placement.ParameterServer, placement.Collective

func TestSolveStaysTogether(t *testing.T) {
	//	b1
	//	├── r1: n1 (16 cpu, 8 GPUs)  n2 (16, 4)
	//	└── r2: n3 (16, 8)           n4 (16, 8)
	//	b2
	//	└── r3: n5 (4, 3)            n6 (16, 8)
	nodes := []string{"b1/r1/n1 16 8", "b1/r1/n2 16 4", "b1/r2/n3 16 8", "b1/r2/n4 16 8", "b2/r3/n5 4 3", "b2/r3/n6 16 8"}
	for _, c := range []solveCase{
		{name: "a node that holds all, the one with the fewest GPUs to spare", pattern: ps, roles: []string{"ps 1 1 0", "worker 3 1 1"}, want: []string{"n5: ps 1, worker 3"}},
		{name: "other requests count too", pattern: ps, roles: []string{"ps 1 2 0", "worker 3 1 1"}, want: []string{"n2: ps 1, worker 3"}},
		{name: "a ring too", pattern: ring, roles: []string{"worker 2 1 2"}, want: []string{"n2: worker 2"}},
		// 8 GPUs are free on n1, n3, n4 and n6; 11 in the block of n6, 28 in the other.
		{name: "of nodes with as much, the one in the tightest block", pattern: ring, roles: []string{"worker 8 1 1"}, want: []string{"n6: worker 8"}},
		// 12 GPUs are free in r1, 16 in r2.
		{name: "and in the tightest rack", pattern: ring, roles: []string{"worker 8 1 1"}, want: []string{"n1: worker 8"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				d.Roles[0].Eligible = setOf(t, topology, "n1", "n3", "n4")
			}},
		// n1 has 8 workers and p of the servers, n2 the rest: X = 2 (12 - (8p + 4(2-p))/2) = 16 - 4p, least for p = 2.
		{name: "a rack where no node holds all", pattern: ps, roles: []string{"ps 2 1 0", "worker 12 1 1"}, want: []string{"n1: ps 2, worker 8", "n2: worker 4"}, priced: 8},
		// Two runs of 16 ranks: 2 x 2 x 15/16 at price 1 and 0.25.
		{name: "the only rack that holds a ring", pattern: ring, roles: []string{"worker 16 1 1"}, want: []string{"n3: worker 8", "n4: worker 8"}, priced: 4 * 15.0 / 16 * 1.25},
		// 28 ranks of b1: three nodes of 8 and one of 4; both racks. 2 x 27/28 each.
		{name: "a block", pattern: ring, roles: []string{"worker 28 1 1"}, want: []string{"n1: worker 8", "n2: worker 4", "n3: worker 8", "n4: worker 8"},
			priced: 2 * 27.0 / 28 * (4*1.25 + 2*4)},
		{name: "more than there is", pattern: ring, roles: []string{"worker 41 0 1"}},
		{name: "one resource of many is short", pattern: ps, roles: []string{"ps 1 17 0", "worker 1 1 1"}},
		{name: "silent members go where the least is left", pattern: ps, roles: []string{"worker 1 1 8", "silent 1 1 4"}, want: []string{"n1: worker 1", "n2: silent 1"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				d.Roles[0].Eligible = setOf(t, topology, "n1", "n3")
			}},
		{name: "members that do not talk, each where the least is left", pattern: placement.Single, roles: []string{"worker 3 1 4"}, want: []string{"n1: worker 2", "n2: worker 1"},
			change: func(topology *placement.Topology, d *placement.Demand) {
				d.Roles[0].Eligible = setOf(t, topology, "n1", "n2")
			}},
		// A worker of stage 1 talks to the server and the worker: all on one node.
		{name: "heter workers", pattern: placement.Pipeline, roles: []string{"ps 1 1 0", "worker 1 1 2", "heter1 1 2 2"}, want: []string{"n2: ps 1, worker 1, heter1 1"}},
	} {
		c.nodes = nodes
		c.named(t)
	}
}

// setOf nodes by name.
func setOf(t testing.TB, topology *placement.Topology, names ...string) *placement.NodeSet {
	set := placement.NewNodeSet(topology)
	for _, name := range names {
		node, ok := topology.Node(name)
		require.True(t, ok, name)
		set.Add(node)
	}
	return set
}

// penalties of nodes by name.
func penalties(t testing.TB, topology *placement.Topology, of map[string]int32) []int32 {
	list := make([]int32, topology.Nodes())
	for name, penalty := range of {
		node, ok := topology.Node(name)
		require.True(t, ok, name)
		list[node] = penalty
	}
	return list
}

func TestSolveWithNothingToPlace(t *testing.T) {
	topology := growingCluster(t)
	d := &placement.Demand{Pattern: ps, Roles: []placement.Role{
		placementtest.Running(t, topology, placementtest.RoleOf("ps", placement.Server, 1, 1, 0), "n1"), placementtest.Running(t, topology, placementtest.RoleOf("worker", placement.Worker, 1, 1, 1), "n3"),
	}}
	plan, err := placement.Solve(topology, d, placement.Options{})
	require.NoError(t, err)
	require.Empty(t, plan.Assignments)
	require.True(t, plan.Optimal)
	require.InDelta(t, 2+8, plan.Cost.WeightedBytes, 1e-9, "what runs already costs")
}
