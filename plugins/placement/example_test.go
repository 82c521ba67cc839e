// SPDX-License-Identifier: Apache-2.0

package placement_test

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// The worked example of deploy/docs/design/planner.md.
//
//	      root
//	   r1      r2
//	n1   n2  n3   n4     8 cpu each
//	3    1   2    2      free GPUs
func ExampleSolve() {
	node := func(name, rack string, gpus int64) placement.NodeSpec {
		return placement.NodeSpec{Name: name, Domains: []string{rack}, Free: []int64{8, gpus}}
	}
	topology, err := placement.NewTopology(placement.TopologySpec{
		Resources:    []string{"cpu", "nvidia.com/gpu"},
		Accelerators: []string{"nvidia.com/gpu"},
		Tiers:        placement.DefaultTiers("rack"),
		Nodes:        []placement.NodeSpec{node("n1", "r1", 3), node("n2", "r1", 1), node("n3", "r2", 2), node("n4", "r2", 2)},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	servers := placement.Role{Name: "ps", CommRole: placement.Server, Request: []int64{2, 0}, Pending: []int{0, 1}, Minimum: 2}
	workers := placement.Role{Name: "worker", CommRole: placement.Worker, Request: []int64{1, 1}, Pending: []int{0, 1, 2, 3}, Minimum: 4}
	job := &placement.Demand{Pattern: placement.ParameterServer, Roles: []placement.Role{servers, workers}}
	plan, err := placement.Solve(topology, job, placement.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, a := range plan.Assignments {
		fmt.Printf("%s-%d on %s\n", job.Roles[a.Role].Name, a.Index, topology.NodeName(a.Node))
	}
	for tier, cost := range plan.Cost.Tiers[placement.NodeTier:] {
		fmt.Printf("%s: %g bytes cross\n", topology.Tiers()[placement.NodeTier+tier].Name, cost.Bytes)
	}
	fmt.Println("weighted:", plan.Cost.WeightedBytes)
	job.HighestTier = placement.NodeTier
	diagnosis, err := placement.Diagnose(topology, job, placement.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	missing, blocker := diagnosis.Roles[1].Missing, diagnosis.Blocker
	fmt.Printf("%d worker does not fit: %s has %d of %d %s\n", missing, diagnosis.Domain.Name, blocker.Free, blocker.Needed, blocker.Resource)
	// Output:
	// ps-0 on n1
	// ps-1 on n1
	// worker-0 on n1
	// worker-1 on n1
	// worker-2 on n1
	// worker-3 on n2
	// node: 2 bytes cross
	// rack: 0 bytes cross
	// weighted: 2
	// 1 worker does not fit: n1 has 3 of 4 nvidia.com/gpu
}
