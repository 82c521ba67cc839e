// SPDX-License-Identifier: Apache-2.0

package bruteforce_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// TestInnerAxesStayInside: eight ranks have three axes of two ranks each. In every cheapest plan, and in the planner's, the groups of the axis
// that sends most are inside islands or nodes, and those of the axis that sends most but one are inside nodes or racks.
func TestInnerAxesStayInside(t *testing.T) {
	type node = placement.NodeSpec
	islands := []placement.Island{{Size: 2, Free: 2}, {Size: 2, Free: 2}}
	build := func(nodes ...node) *placement.Topology {
		topology, err := placement.NewTopology(placement.TopologySpec{
			Resources: []string{"nvidia.com/gpu"}, Accelerators: []string{"nvidia.com/gpu"}, Tiers: placement.DefaultTiers("rack"), Nodes: nodes,
		})
		require.NoError(t, err)
		return topology
	}
	of := func(name, rack string, gpus int64) node {
		return node{Name: name, Domains: []string{rack}, Free: []int64{gpus}}
	}
	withIslands := func(name, rack string) node {
		n := of(name, rack, 4)
		n.Islands = islands
		return n
	}
	clusters := map[string]*placement.Topology{
		"nodes of 2 in racks of 4":   build(of("a", "r", 2), of("b", "r", 2), of("c", "s", 2), of("d", "s", 2)),
		"islands of 2 in nodes of 4": build(withIslands("a", "r"), withIslands("b", "s")),
	}
	for name, c := range map[string]struct {
		degrees placement.Parallelism
		// first and second are the strides of the axes that send most, and most but one.
		first, second int
	}{
		"tensor, sep, sharding":      {placement.Parallelism{Tensor: 2, Sep: 2, Sharding: 2}, 1, 2},
		"tensor, sep, pipeline":      {placement.Parallelism{Tensor: 2, Sep: 2, Pipeline: 2}, 1, 2},
		"tensor, sharding, pipeline": {placement.Parallelism{Tensor: 2, Sharding: 2, Pipeline: 2}, 1, 2},
		"tensor, sep, data":          {placement.Parallelism{Tensor: 2, Sep: 2}, 1, 2},
		"sep, sharding, pipeline":    {placement.Parallelism{Sep: 2, Sharding: 2, Pipeline: 2}, 1, 2},
		// Gradients are more than activations: data parallel ranks, the outermost, go before pipeline parallel ones.
		"tensor, data, pipeline":                     {placement.Parallelism{Tensor: 2, Pipeline: 2}, 1, 4},
		"tensor, sharding, pipeline, sharding first": {placement.Parallelism{Tensor: 2, Sharding: 2, Pipeline: 2, ShardingFirst: true}, 1, 4},
	} {
		for where, topology := range clusters {
			t.Run(name+", "+where, func(t *testing.T) {
				d := instances.Ring(8, []int64{1})
				d.Parallelism = c.degrees
				in := &instances.Instance{Topology: topology, Demand: d}
				var cheapest [][]placement.Assignment
				var least bruteforce.Score
				everyPlan(in, func(plan []placement.Assignment, score bruteforce.Score) {
					if len(cheapest) == 0 || score.Less(least) {
						cheapest, least = nil, score
					}
					if !least.Less(score) {
						cheapest = append(cheapest, append([]placement.Assignment(nil), plan...))
					}
				})
				plan, err := placement.Solve(topology, d, placement.Options{})
				require.NoError(t, err)
				require.False(t, least.Less(bruteforce.ScoreOf(in, plan.Cost)), "the plan costs %v, the least is %v", plan.Cost, least)
				for _, assignments := range append(cheapest, plan.Assignments) {
					inner, outer := domainsOf(topology, assignments)
					for rank := range 8 {
						require.Equal(t, inner[rank&^c.first], inner[rank|c.first], "%v", assignments)
						require.Equal(t, outer[rank&^c.second], outer[rank|c.second], "%v", assignments)
					}
				}
			})
		}
	}
}

// domainsOf returns the islands and nodes of pods with a GPU each, or the nodes and racks where nodes have no islands.
func domainsOf(t *placement.Topology, plan []placement.Assignment) (inner, outer []int) {
	islands := map[placement.NodeID][]placement.Island{}
	for _, a := range plan {
		if t.Islands(a.Node) == nil {
			inner, outer = append(inner, int(a.Node)), append(outer, int(t.Ancestor(a.Node, placement.NodeTier+1)))
			continue
		}
		if islands[a.Node] == nil {
			islands[a.Node] = t.Islands(a.Node)
		}
		inner = append(inner, 2*int(a.Node)+placement.PickIslands(islands[a.Node], 1)[0])
		outer = append(outer, int(a.Node))
	}
	return inner, outer
}
