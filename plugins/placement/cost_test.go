// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// laidOut is a demand whose roles are on the nodes named, "ps: n1 n1 n2": all of them placed by the assignments, members in
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

// times repeats nodes: "n1", 3 is "n1 n1 n1".
func times(node string, n int) string { return strings.Repeat(" "+node, n) }

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
	return built(t, spec)
}

// sums are bytes and busiest uplinks from the island tier upwards.
func sums(cost placement.Cost) (bytes, busiest []float64) {
	for _, tier := range cost.Tiers {
		bytes, busiest = append(bytes, tier.Bytes), append(busiest, tier.Busiest)
	}
	return bytes, busiest
}

func TestCostByHand(t *testing.T) {
	const ps, ring, heter, single = placement.ParameterServer, placement.Collective, placement.Pipeline, placement.Single
	type floats = []float64
	for _, c := range []struct {
		name    string
		pattern placement.Pattern
		gpus    int64
		lines   []string
		change  func(d *placement.Demand)
		// of island, node, rack and block
		bytes, busiest floats
		seconds        float64
	}{
		// X = 2 M (32 - 2 x 4 x 16/8) = 32 M; T = M/8 (4 x 16 + 16 x 4) = 16 M.
		{"8 servers and 32 workers on 2 nodes", ps, 0, []string{"ps:" + times("n1", 4) + times("n2", 4), "worker:" + times("n1", 16) + times("n2", 16)}, nil,
			floats{0, 32, 0, 0}, floats{0, 16, 0, 0}, 16},
		// X = 2 M (32 - 4 x 2 x 8/8) = 48 M; T = M/8 (2 x 24 + 8 x 6) = 12 M. Racks have 4
		// servers and 16 workers each, as the nodes above.
		{"on 4 nodes of one block", ps, 0, []string{"ps: n1 n1 n2 n2 n3 n3 n4 n4", "worker:" + times("n1 n2 n3 n4", 8)}, nil,
			floats{0, 48, 32, 0}, floats{0, 12, 16, 0}, 16},
		{"all on one node", ps, 0, []string{"ps: n1 n1", "worker: n1 n1 n1"}, nil, floats{0, 0, 0, 0}, floats{0, 0, 0, 0}, 0},
		// Each worker pulls M and pushes M across everything between; M = 10.
		{"servers and workers in two blocks", ps, 0, []string{"ps: n1 n1", "worker: n5 n5 n5"}, func(d *placement.Demand) { d.ParameterBytes = 10 },
			floats{0, 60, 60, 60}, floats{0, 30, 30, 30}, 30},
		{"members that run count too", ps, 0, []string{"ps: n1* n1*", "worker: n5* n5 n5*"}, nil,
			floats{0, 6, 6, 6}, floats{0, 3, 3, 3}, 3},
		// One worker beside the only server, one a rack away: 1 M each way between n1 and n3.
		{"silent members hold domains and carry nothing", ps, 0, []string{"ps: n1", "worker: n1 n3", "silent: n6"}, nil,
			floats{0, 2, 2, 0}, floats{0, 1, 1, 0}, 1},
		{"heter workers count as workers of servers", ps, 0, []string{"ps: n1", "heter2: n2"}, nil,
			floats{0, 2, 0, 0}, floats{0, 1, 0, 0}, 1},
		{"no servers", ps, 0, []string{"worker: n1 n5"}, nil, floats{0, 0, 0, 0}, floats{0, 0, 0, 0}, 0},
		{"single", single, 1, []string{"ps: n1", "worker: n1 n5"}, nil, floats{0, 0, 0, 0}, floats{0, 0, 0, 0}, 0},

		// N = 4 ranks: a run leaves each node: 2 x 3/4 M. Node and island are one.
		{"a ring on two nodes", ring, 1, []string{"worker: n1 n1 n2 n2"}, nil,
			floats{3, 3, 0, 0}, floats{1.5, 1.5, 0, 0}, 1.5},
		// Ranks 0 and 2 on n1, 1 and 3 on n2: c_v = 2.
		{"a ring that goes back and forth", ring, 1, []string{"worker: n1 n2 n1 n2"}, nil,
			floats{6, 6, 0, 0}, floats{3, 3, 0, 0}, 3},
		// The last rank and the first are neighbors: n1 has one run.
		{"a run over the end of the ring", ring, 1, []string{"worker: n1 n2 n2 n1"}, nil,
			floats{3, 3, 0, 0}, floats{1.5, 1.5, 0, 0}, 1.5},
		// N = 8 ranks of 4 pods: 2 x 7/8 M = 1.75 M for each run; r1 and b1 hold one run, r3 and b2 one.
		{"pods of two ranks in two blocks", ring, 2, []string{"worker: n1 n2 n5 n6"}, nil,
			floats{7, 7, 3.5, 3.5}, floats{1.75, 1.75, 1.75, 1.75}, 1.75},
		{"pods without GPUs are one rank each", ring, 0, []string{"worker: n1 n3"}, nil,
			floats{2, 2, 2, 0}, floats{1, 1, 1, 0}, 1},
		{"a ring of one rank", ring, 1, []string{"worker: n1"}, nil, floats{0, 0, 0, 0}, floats{0, 0, 0, 0}, 0},
		{"servers are silent on a ring", ring, 1, []string{"ps: n5", "worker: n1 n1"}, nil,
			floats{0, 0, 0, 0}, floats{0, 0, 0, 0}, 0},
		// Groups of two: {n1, n1} stays whole, {n1, n2} is a ring of its own, each of whose two edges weighs 64. n1 has
		// 2 + 2 x 64 ends, and as many n2; an end is 3/4 M.
		{"a parallel group on two nodes", ring, 1, []string{"worker: n1 n1 n1 n2"}, func(d *placement.Demand) { d.GroupSize = 2 },
			floats{195, 195, 0, 0}, floats{97.5, 97.5, 0, 0}, 97.5},
		// A group of three and one of one: of the first, n1 has 2 x 64 ends and n2 as many; the ring adds 2 each.
		{"the last group is shorter", ring, 1, []string{"worker: n1 n1 n2 n2"}, func(d *placement.Demand) { d.GroupSize = 3 },
			floats{195, 195, 0, 0}, floats{97.5, 97.5, 0, 0}, 97.5},
		{"groups inside a pod cost nothing", ring, 2, []string{"worker: n1 n2"}, func(d *placement.Demand) { d.GroupSize = 2 },
			floats{3, 3, 0, 0}, floats{1.5, 1.5, 0, 0}, 1.5},

		// Server, worker and stage 1 on three nodes, M = 8: any two of them exchange 8 each way. Each node, and either rack, sends 16.
		{"two stages", heter, 1, []string{"ps: n1", "worker: n2", "heter1: n3"}, func(d *placement.Demand) { d.ParameterBytes = 8 },
			floats{0, 48, 32, 0}, floats{0, 16, 16, 0}, 16},
		// Two workers of stage 1: each gets half of the worker's 8 bytes of activations, all on n3.
		{"activations are spread over a stage", heter, 1, []string{"ps: n1", "worker: n2", "heter1: n3 n3"}, func(d *placement.Demand) { d.ParameterBytes = 8 },
			floats{0, 24 + 16 + 24, 48, 0}, floats{0, 24, 24, 0}, 24},
		{"activations are as large as parameters", heter, 1, []string{"worker: n1", "heter1: n2"}, func(d *placement.Demand) { d.ParameterBytes = 8 },
			floats{0, 16, 0, 0}, floats{0, 8, 0, 0}, 8},
		{"a stage without members is passed over", heter, 1, []string{"worker: n1", "heter3: n2"}, nil,
			floats{0, 2, 0, 0}, floats{0, 1, 0, 0}, 1},
		{"stages further apart do not talk", heter, 1, []string{"worker: n1", "heter1: n1", "heter2: n1", "heter4: n2"}, nil,
			floats{0, 2, 0, 0}, floats{0, 1, 0, 0}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			topology := costCluster(t)
			d, assignments := laidOut(t, topology, c.pattern, c.gpus, c.lines...)
			if c.change != nil {
				c.change(d)
			}
			cost, err := placement.Evaluate(topology, d, assignments)
			require.NoError(t, err)
			bytes, busiest := sums(cost)
			require.InDeltaSlice(t, c.bytes, bytes, 1e-9)
			require.InDeltaSlice(t, c.busiest, busiest, 1e-9)
			require.InDelta(t, c.bytes[0]/4+c.bytes[1]+4*c.bytes[2]+16*c.bytes[3], cost.WeightedBytes, 1e-9)
			require.InDelta(t, c.seconds, cost.BusiestSeconds, 1e-9)
		})
	}
}

func TestIslandsCost(t *testing.T) {
	// Two pods of two GPUs on a node whose islands have 3 and 2 free: the first takes the second island whole, the other the
	// first one. A ring of 4 ranks of 2 x 3/4 M an edge: one run leaves each island, none the node.
	topology := built(t, placement.TopologySpec{
		Resources: []string{"cpu", "gpu"}, Accelerators: []string{"gpu"}, Tiers: placement.DefaultTiers(),
		Nodes: []placement.NodeSpec{{Name: "n1", Free: []int64{9, 5}, Islands: []placement.Island{{Size: 4, Free: 3}, {Size: 4, Free: 2}}}},
	})
	d, assignments := laidOut(t, topology, placement.Collective, 2, "worker: n1 n1")
	cost, err := placement.Evaluate(topology, d, assignments)
	require.NoError(t, err)
	bytes, busiest := sums(cost)
	require.InDeltaSlice(t, []float64{3, 0}, bytes, 1e-9)
	require.InDeltaSlice(t, []float64{1.5, 0}, busiest, 1e-9)
	require.InDelta(t, 0.25*3, cost.WeightedBytes, 1e-9)
	require.InDelta(t, 1.5, cost.BusiestSeconds, 1e-9)
}

func TestPenaltiesOfPendingMembers(t *testing.T) {
	topology := costCluster(t)
	d, assignments := laidOut(t, topology, placement.ParameterServer, 0, "ps: n1 n2*", "worker: n1* n2 n2")
	d.Roles[0].Penalty, d.Roles[1].Penalty = []int32{5, 7, 0, 0, 0, 0}, []int32{100, 10, 0, 0, 0, 0}
	cost, err := placement.Evaluate(topology, d, assignments)
	require.NoError(t, err)
	require.EqualValues(t, 5+10+10, cost.Penalty)
}

func TestEvaluateRefuses(t *testing.T) {
	topology := costCluster(t)
	for want, list := range map[string][]placement.Assignment{
		"evaluate an assignment: node 6 is not in the topology":                            {{Index: 1, Node: 6}},
		"evaluate an assignment: node -1 is not in the topology":                           {{Index: 1, Node: -1}},
		`member 0 of role "ps" is not pending, or assigned out of order`:                   {{Index: 0}},
		`member 2 of role "ps" is not pending`:                                             {{Index: 2}},
		`member 1 of role "ps" is not pending, or assigned out`:                            {{Index: 1}, {Index: 1}},
		`member 1 of role "worker" is not pending, or assigned`:                            {{Role: 1, Index: 3}, {Role: 1, Index: 1}},
		"evaluate an assignment: assignment 1, of role number 0, is out of order or of no": {{Role: 1, Index: 0}, {Index: 1}},
		"assignment 0, of role number 2, is out of order or of no role":                    {{Role: 2}},
	} {
		d, _ := laidOut(t, topology, placement.ParameterServer, 0, "ps: n2* n2", "worker: n1 n2 n1 n1")
		_, err := placement.Evaluate(topology, d, list)
		require.ErrorContains(t, err, want)
	}
	_, err := placement.Evaluate(topology, &placement.Demand{Pattern: 9}, nil)
	require.ErrorContains(t, err, "pattern 9 is not known")
}
