// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Allocation distinguishes memory that grows with pods times nodes from memory that grows with either.
type Allocation struct {
	Case string `json:"case"`
	// Bytes of a first plan of a quarter of the pods, and of all, on the nodes and on ten times as many.
	Few     [2]float64 `json:"bytes_quarter_of_pods"`
	Many    [2]float64 `json:"bytes_all_pods"`
	Pods    int        `json:"pods"`
	Nodes   int        `json:"nodes"`
	PerPair float64    `json:"bytes_per_pod_and_node"`
}

// measureAllocation plans with few and many pods on few and many nodes. With f(pods) + g(nodes) + x pods nodes bytes, the
// four sizes give x.
func measureAllocation(seed uint64) ([]Allocation, error) {
	server, worker := []int64{8, 32, 0}, []int64{6, 48, 1}
	cases := []struct {
		name      string
		few, many *placement.Demand
		pods      [2]int
	}{
		{"servers and workers", instances.Servers(16, 128, server, worker), instances.Servers(64, 512, server, worker), [2]int{144, 576}},
		{"ring", instances.Ring(128, []int64{64, 512, 8}), instances.Ring(512, []int64{64, 512, 8}), [2]int{128, 512}},
	}
	var all []Allocation
	for _, c := range cases {
		a := Allocation{Case: c.name, Pods: c.pods[1], Nodes: largeFleet.nodes}
		for i, n := range []int{1, tenfold} {
			size := largeFleet.times(n)
			fleet := instances.NewFleet(seed, size.nodes, size.racks, size.blocks)
			for d, bytes := range map[*placement.Demand]*float64{c.few: &a.Few[i], c.many: &a.Many[i]} {
				t := fleet.Build()
				var err error
				*bytes = measure(func() { _, err = placement.Solve(t, d, placement.Options{}) }).bytes
				if err != nil {
					return nil, fmt.Errorf("measure allocations, %s: %w", c.name, err)
				}
			}
		}
		pairs := float64(c.pods[1]-c.pods[0]) * float64((tenfold-1)*largeFleet.nodes)
		a.PerPair = (a.Many[1] - a.Many[0] - a.Few[1] + a.Few[0]) / pairs
		all = append(all, a)
	}
	return all, nil
}
