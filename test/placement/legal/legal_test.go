// SPDX-License-Identifier: Apache-2.0

package legal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// Tiers of clusters with racks and blocks.
const (
	rackTier  = placement.NodeTier + 1
	blockTier = placement.NodeTier + 2
)

// TestCheck holds plans against this cluster, in racks r1 to r3 and blocks b1 and b2, 64 cpu and 64 GPUs on each node.
//
//	cluster
//	├── b1
//	│   ├── r1: n1 n2
//	│   └── r2: n3 n4
//	└── b2
//	    └── r3: n5 n6
func TestCheck(t *testing.T) {
	only := func(topology *placement.Topology, nodes ...placement.NodeID) *placement.NodeSet {
		set := placement.NewNodeSet(topology)
		for _, n := range nodes {
			set.Add(n)
		}
		return set
	}
	required := func(tier int) func(*placement.Topology, *placement.Demand, *placement.Plan) {
		return func(_ *placement.Topology, d *placement.Demand, _ *placement.Plan) {
			d.Colocation, d.ColocationTier = placement.Required, tier
		}
	}
	within := func(tier int) func(*placement.Topology, *placement.Demand, *placement.Plan) {
		return func(_ *placement.Topology, d *placement.Demand, _ *placement.Plan) { d.HighestTier = tier }
	}
	for _, c := range []struct {
		name    string
		pattern placement.Pattern
		lines   []string
		gpus    int64
		change  func(*placement.Topology, *placement.Demand, *placement.Plan)
		want    string // "" for a good plan
	}{
		{"a plan that keeps everything", placement.ParameterServer, []string{"ps: n1", "worker: n2 n5"}, 1, nil, ""},
		{"a node that is not there", placement.ParameterServer, []string{"ps: n1"}, 1,
			func(_ *placement.Topology, _ *placement.Demand, p *placement.Plan) { p.Assignments[0].Node = 6 }, "check a plan: node 6 is not in the topology"},
		{"a node below 0", placement.ParameterServer, []string{"ps: n1"}, 1,
			func(_ *placement.Topology, _ *placement.Demand, p *placement.Plan) { p.Assignments[0].Node = -1 }, "check a plan: node -1 is not in the topology"},
		{"a member that is not pending", placement.ParameterServer, []string{"ps: n1"}, 1,
			func(_ *placement.Topology, _ *placement.Demand, p *placement.Plan) { p.Assignments[0].Index = 4 },
			`check a plan: member 4 of role "ps" is not pending`},
		{"a full node", placement.Single, []string{"worker: n1 n1"}, 32, nil, ""},
		{"more than a node has", placement.Single, []string{"worker: n1 n1 n1"}, 22, nil, "check a plan: node n1 has 64 gpu free and is to give 66"},
		{"more than a node has, two roles together", placement.ParameterServer, []string{"ps: n2 n1", "worker: n1"}, 33, nil, "node n1 has 64 gpu free and is to give 66"},
		{"members that run need no capacity", placement.ParameterServer, []string{"worker: n1* n1* n1"}, 33, nil, ""},
		{"nothing is asked of what is below 0", placement.Single, []string{"worker: n1"}, 1,
			func(topology *placement.Topology, _ *placement.Demand, _ *placement.Plan) {
				_ = topology.SetFree(0, []int64{-1, 1}, nil)
			}, ""},
		{"an eligible node", placement.Single, []string{"worker: n2"}, 1,
			func(topology *placement.Topology, d *placement.Demand, _ *placement.Plan) {
				d.Roles[0].Eligible = only(topology, 1)
			}, ""},
		{"a node that is not eligible", placement.Single, []string{"worker: n2 n1"}, 1,
			func(topology *placement.Topology, d *placement.Demand, _ *placement.Plan) {
				d.Roles[0].Eligible = only(topology, 1)
			}, `check a plan: member 1 of role "worker" is on node n1, which is not eligible`},
		{"a member that runs where it is no longer eligible", placement.Single, []string{"worker: n2 n1*"}, 1,
			func(topology *placement.Topology, d *placement.Demand, _ *placement.Plan) {
				d.Roles[0].Eligible = only(topology, 1)
			}, ""},
		{"the minimum", placement.Single, []string{"worker: n2 n1*"}, 1,
			func(_ *placement.Topology, d *placement.Demand, _ *placement.Plan) { d.Roles[0].Minimum = 2 }, ""},
		{"less than the minimum", placement.Single, []string{"worker: n2 n1*"}, 1,
			func(_ *placement.Topology, d *placement.Demand, p *placement.Plan) {
				d.Roles[0].Minimum, p.Assignments = 2, nil
			}, `check a plan: 1 members of role "worker", want 2 at least`},

		{"one node", placement.Single, []string{"ps: n1", "worker: n1"}, 1, within(placement.NodeTier), ""},
		{"two nodes", placement.Single, []string{"ps: n1", "worker: n2"}, 1, within(placement.NodeTier), "check a plan: members are in more than one node"},
		{"one rack", placement.Collective, []string{"worker: n1 n2"}, 1, within(rackTier), ""},
		{"two racks", placement.Collective, []string{"worker: n1 n3"}, 1, within(rackTier), "members are in more than one rack"},
		{"one block", placement.Collective, []string{"worker: n1 n3"}, 1, within(blockTier), ""},
		{"two blocks", placement.Collective, []string{"worker: n1 n5"}, 1, within(blockTier), "members are in more than one block"},
		{"silent members keep limits too", placement.ParameterServer, []string{"worker: n1", "silent: n3"}, 1, within(rackTier), "members are in more than one rack"},
		{"members that run bind the others", placement.Collective, []string{"worker: n1* n3"}, 1, within(rackTier), "members are in more than one rack"},
		{"members that run apart, and nothing to place", placement.Collective, []string{"worker: n1* n3*"}, 1, within(rackTier), ""},

		{"a server on each node", placement.ParameterServer, []string{"ps: n1 n5*", "worker: n1 n5"}, 1, required(0), ""},
		{"a node without a server", placement.ParameterServer, []string{"ps: n1", "worker: n1 n2"}, 1, required(0), `check a plan: member 1 of role "worker" has no server in its node`},
		{"a server in the rack", placement.ParameterServer, []string{"ps: n1", "worker: n1 n2"}, 1, required(rackTier), ""},
		{"a rack without a server", placement.Pipeline, []string{"ps: n1", "heter1: n3"}, 1, required(rackTier), `member 0 of role "heter1" has no server in its rack`},
		{"workers that run without a server stay", placement.ParameterServer, []string{"ps: n1", "worker: n1 n2*"}, 1, required(0), ""},
		{"silent members need no server", placement.ParameterServer, []string{"ps: n1", "silent: n2"}, 1, required(0), ""},
		{"a ring has no servers", placement.Collective, []string{"worker: n1 n2"}, 1, required(0), ""},
		{"what is preferred is no limit", placement.ParameterServer, []string{"ps: n1", "worker: n2"}, 1, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			topology := costCluster(t)
			d, assignments := laidOut(t, topology, c.pattern, c.gpus, c.lines...)
			plan := &placement.Plan{Assignments: assignments}
			if c.change != nil {
				c.change(topology, d, plan)
			}
			err := legal.Check(topology, d, plan.Assignments)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
	require.ErrorContains(t, legal.Check(costCluster(t), &placement.Demand{Pattern: 9}, nil), "pattern 9 is not known")
}

// laidOut returns a demand whose roles are on the nodes named, "ps: n1 n1 n2": all of them placed by the assignments, members in
// order. Roles are called ps, worker, heter1, heter2 and so on, or silent; a "*" marks a member that was placed before.
func laidOut(t testing.TB, topology *placement.Topology, pattern placement.Pattern, gpus int64, lines ...string) (*placement.Demand, []placement.Assignment) {
	t.Helper()
	d := &placement.Demand{Pattern: pattern}
	var assignments []placement.Assignment
	for r, line := range lines {
		name, nodes, _ := strings.Cut(line, ":")
		role := placement.Role{Name: name, Request: []int64{0, gpus}}
		switch {
		case name == "ps":
			role.CommRole = placement.Server
		case name == "worker":
			role.CommRole = placement.Worker
		case name != "silent":
			role.CommRole, role.Stage = placement.PipelineWorker, int(name[len(name)-1]-'0')
		}
		for index, at := range strings.Fields(nodes) {
			node, ok := topology.Node(strings.Trim(at, "*"))
			require.True(t, ok, at)
			if strings.HasSuffix(at, "*") {
				role.Placed = append(role.Placed, placement.Placed{Index: index, Node: node})
				continue
			}
			role.Pending = append(role.Pending, index)
			assignments = append(assignments, placement.Assignment{Role: r, Index: index, Node: node})
		}
		d.Roles = append(d.Roles, role)
	}
	return d, assignments
}

// costCluster has unit bandwidths.
//
//	cluster
//	├── b1
//	│   ├── r1: n1 n2
//	│   └── r2: n3 n4
//	└── b2
//	    └── r3: n5 n6
func costCluster(t testing.TB) *placement.Topology {
	spec := placement.TopologySpec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers("rack", "block"),
	}
	for i, domains := range [][]string{{"r1", "b1"}, {"r1", "b1"}, {"r2", "b1"}, {"r2", "b1"}, {"r3", "b2"}, {"r3", "b2"}} {
		spec.Nodes = append(spec.Nodes, placement.NodeSpec{Name: "n" + string(rune('1'+i)), Domains: domains, Free: []int64{64, 64}})
	}
	topology, err := placement.NewTopology(spec)
	require.NoError(t, err)
	return topology
}
