// SPDX-License-Identifier: Apache-2.0

package draw_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/draw"
)

// job is a plan made by hand with all that it is about.
type job struct {
	topology *placement.Topology
	demand   placement.Demand
	plan     placement.Plan
	options  draw.Options
}

// jobs that are drawn in several tests: what they hold does not change between two calls.
func jobs(t *testing.T) map[string]job {
	return map[string]job{"ring": ring(t), "servers": servers(t), "names": names(t)}
}

// ring is a Collective of four pods with 4 GPUs each, in parallel groups of two, one of which runs already. Free GPUs by
// island:
//
//	cluster
//	├── b1
//	│   ├── r1: n1 4|4   n2 4|0   n3 4|4
//	│   ├── r2: n4 4|2   n5 4|4
//	│   └── r3: n6 4|4
//	└── b2
//	    └── r1: n7 4|4   n8 4|4
//
// worker 0 runs on n2, workers 1 to 3 are planned for n1, n1 and n4.
func ring(t *testing.T) job {
	node := func(name, block, rack string, second int) placement.NodeSpec {
		return placement.NodeSpec{
			Name: name, Domains: []string{rack, block}, Free: []int64{int64(4 + second), 64},
			Islands: []placement.Island{{Size: 4, Free: 4}, {Size: 4, Free: second}},
		}
	}
	tiers := placement.DefaultTiers("rack", "block")
	for i, gigabytes := range []float64{300, 50, 100, 200} {
		tiers[i].Bandwidth = gigabytes * 1e9
	}
	return made(t, job{
		topology: topology(t, tiers,
			node("n1", "b1", "r1", 4), node("n2", "b1", "r1", 0), node("n3", "b1", "r1", 4),
			node("n4", "b1", "r2", 2), node("n5", "b1", "r2", 4), node("n6", "b1", "r3", 4),
			node("n7", "b2", "r1", 4), node("n8", "b2", "r1", 4)),
		demand: placement.Demand{
			Pattern: placement.Collective, ParameterBytes: 14e9, GroupSize: 2, GroupWeight: 8,
			Roles: []placement.Role{{
				Name: "worker", Traffic: placement.Worker, Request: []int64{4, 8}, Minimum: 4,
				Pending: []int{1, 2, 3}, Placed: []placement.Placed{{Index: 0, Node: 1}},
			}},
		},
		plan:    placement.Plan{Optimal: true},
		options: draw.Options{Title: "team-a/bert"},
	}, "n1", "n1", "n4")
}

// servers is a job of two servers and six workers without GPUs, and one coordinator; free CPUs:
//
//	cluster
//	├── r1: n1 8   n2 8
//	└── r2: n3 8   n4 0
func servers(t *testing.T) job {
	node := func(name, rack string, cpus int64) placement.NodeSpec {
		return placement.NodeSpec{Name: name, Domains: []string{rack}, Free: []int64{0, cpus}}
	}
	role := func(name string, traffic placement.Traffic, pods int) placement.Role {
		r := placement.Role{Name: name, Traffic: traffic, Request: []int64{0, 2}}
		for i := range pods {
			r.Pending = append(r.Pending, i)
		}
		return r
	}
	return made(t, job{
		topology: topology(t, placement.DefaultTiers("rack"),
			node("n1", "r1", 8), node("n2", "r1", 8), node("n3", "r2", 8), node("n4", "r2", 0)),
		demand: placement.Demand{
			Pattern: placement.ParameterServer,
			Roles:   []placement.Role{role("ps", placement.Server, 2), role("worker", placement.Worker, 7), role("coordinator", placement.Silent, 1)},
		},
		plan: placement.Plan{Left: []placement.Member{{Role: 1, Index: 6}}},
	}, "n1", "n2", "n1", "n1", "n2", "n2", "n3", "n3", "n1")
}

// names is a job whose names, all of them, are made to break an SVG.
func names(t *testing.T) job {
	const evil = `<script>&"'` + "\x00\xff]]>"
	return made(t, job{
		topology: topology(t, placement.DefaultTiers(`<rack & "co">`),
			placement.NodeSpec{Name: evil, Domains: []string{`--><g>`}, Free: []int64{1, 1}},
			placement.NodeSpec{Name: "a-very-long-name-of-a-node-that-nobody-can-read.example.com", Domains: []string{"r2"}, Free: []int64{1, 1}}),
		demand: placement.Demand{
			Pattern: placement.Collective,
			Roles:   []placement.Role{{Name: evil, Traffic: placement.Worker, Request: []int64{1, 1}, Pending: []int{7, 123456}}},
		},
		options: draw.Options{Title: "</svg>" + evil},
	}, evil, "a-very-long-name-of-a-node-that-nobody-can-read.example.com")
}

func topology(t *testing.T, tiers []placement.Tier, nodes ...placement.NodeSpec) *placement.Topology {
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources: []string{"nvidia.com/gpu", "cpu"}, Accelerators: []string{"nvidia.com/gpu"}, Tiers: tiers, Nodes: nodes,
	})
	require.NoError(t, err)
	return topology
}

// made assigns pending members to nodes in their order, as far as these go, and adds what it costs.
func made(t *testing.T, j job, nodes ...string) job {
	for r, role := range j.demand.Roles {
		for _, index := range role.Pending {
			if len(nodes) == 0 {
				break
			}
			if len(j.plan.Left) > 0 && j.plan.Left[0] == (placement.Member{Role: r, Index: index}) {
				continue
			}
			node, ok := j.topology.Node(nodes[0])
			require.True(t, ok, nodes[0])
			j.plan.Assignments = append(j.plan.Assignments, placement.Assignment{Role: r, Index: index, Node: node})
			nodes = nodes[1:]
		}
	}
	require.Empty(t, nodes)
	var err error
	j.plan.Cost, err = placement.Evaluate(j.topology, &j.demand, j.plan.Assignments)
	require.NoError(t, err)
	return j
}
