// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

func cpuAndGPU(t *testing.T, nodes ...tree.NodeSpec) *tree.Topology {
	t.Helper()
	topology, err := tree.New(tree.Spec{
		Resources:    []string{"cpu", "gpu"},
		Accelerators: []string{"gpu"},
		Tiers:        tree.DefaultTiers("rack"),
		Nodes:        nodes,
	})
	require.NoError(t, err)
	return topology
}

func members(name string, traffic gang.CommRole, n int, request ...int64) gang.Role {
	role := gang.Role{Name: name, CommRole: traffic, Request: request, Minimum: n}
	for i := range n {
		role.Pending = append(role.Pending, i)
	}
	return role
}

// The other two placements of the worked example in deploy/docs/design/planner.md.
//
//	      root
//	   r1      r2
//	n1   n2  n3   n4     8 cpu each
//	3    1   2    2      free GPUs
func TestTheWorkedExampleOfTheREADME(t *testing.T) {
	node := func(name, rack string, gpus int64) tree.NodeSpec {
		return tree.NodeSpec{Name: name, Domains: []string{rack}, Free: []int64{8, gpus}}
	}
	topology := cpuAndGPU(t, node("n1", "r1", 3), node("n2", "r1", 1), node("n3", "r2", 2), node("n4", "r2", 2))
	job := &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{members("ps", gang.Server, 2, 2, 0), members("worker", gang.Worker, 4, 1, 1)}}
	on := func(nodes ...tree.NodeID) []gang.Assignment {
		var all []gang.Assignment
		for i, n := range nodes {
			if i < 2 {
				all = append(all, gang.Assignment{Role: 0, Index: i, Node: n})
			} else {
				all = append(all, gang.Assignment{Role: 1, Index: i - 2, Node: n})
			}
		}
		return all
	}
	for _, test := range []struct {
		name                string
		nodes               []tree.NodeID
		node, rack, busiest float64
		priced              float64
	}{
		{"rack r1", []tree.NodeID{0, 0, 0, 0, 0, 1}, 2, 0, 1, 2},
		{"rack r2", []tree.NodeID{2, 2, 2, 2, 3, 3}, 4, 0, 2, 4},
		{"spread", []tree.NodeID{0, 2, 0, 1, 2, 3}, 6, 4, 2, 22},
	} {
		cost, err := traffic.Evaluate(topology, job, on(test.nodes...))
		require.NoError(t, err, test.name)
		require.InDelta(t, test.node, cost.Tiers[tree.NodeTier].Bytes, 1e-9, test.name)
		require.InDelta(t, test.rack, cost.Tiers[tree.NodeTier+1].Bytes, 1e-9, test.name)
		require.InDelta(t, test.busiest, cost.BusiestSeconds, 1e-9, test.name)
		require.InDelta(t, test.priced, cost.WeightedBytes, 1e-9, test.name)
	}
}

// A ring of 12: rack c holds it on 12 nodes, racks a and b on one node each.
//
//	          root
//	a     b           c
//	a0    b0    c00 ... c11
//	11     1     1  ...  1     free GPUs
func TestTheLowestTierThatHoldsTheGangIsNotAlwaysTheCheapest(t *testing.T) {
	nodes := []tree.NodeSpec{
		{Name: "a0", Domains: []string{"a"}, Free: []int64{100, 11}},
		{Name: "b0", Domains: []string{"b"}, Free: []int64{100, 1}},
	}
	for i := range 12 {
		nodes = append(nodes, tree.NodeSpec{Name: fmt.Sprintf("c%02d", i), Domains: []string{"c"}, Free: []int64{100, 1}})
	}
	topology := cpuAndGPU(t, nodes...)
	for _, noExact := range []bool{false, true} {
		plan, err := Solve(topology, &gang.Demand{Pattern: gang.Collective, Roles: []gang.Role{members("worker", gang.Worker, 12, 1, 1)}}, Options{noExact: noExact})
		require.NoError(t, err)
		// 2 (N-1)/N for each of 2 nodes at 1.25 and 2 racks at 4, against 12 nodes at 1.25.
		require.InDelta(t, 2*11.0/12*(2*1.25+2*4), plan.Cost.WeightedBytes, 1e-9)
		require.Less(t, plan.Cost.WeightedBytes, 2*11.0/12*12*1.25)
	}
}

// 64 workers, of which rack a holds 40 and rack b 24, and 16 servers that either rack has capacity for.
//
//	    root
//	 a        b
//	40       24      free GPUs
func TestServersInTheShareOfWorkersAreNotTheFewestBytes(t *testing.T) {
	topology := cpuAndGPU(t,
		tree.NodeSpec{Name: "a0", Domains: []string{"a"}, Free: []int64{1000, 40}},
		tree.NodeSpec{Name: "b0", Domains: []string{"b"}, Free: []int64{1000, 24}})
	job := &gang.Demand{Pattern: gang.ParameterServer, Roles: []gang.Role{members("ps", gang.Server, 16, 1, 0), members("worker", gang.Worker, 64, 1, 1)}}
	plan, err := Solve(topology, job, Options{})
	require.NoError(t, err)
	require.InDelta(t, 2*(64-40), plan.Cost.Tiers[tree.NodeTier+1].Bytes, 1e-9)
	even := append([]gang.Assignment(nil), plan.Assignments...)
	for i := range 6 {
		even[i].Node = 1 // servers as the workers are: 10 and 6
	}
	cost, err := traffic.Evaluate(topology, job, even)
	require.NoError(t, err)
	require.InDelta(t, 2*(64-(10*40+6*24)/16.0), cost.Tiers[tree.NodeTier+1].Bytes, 1e-9)
}
