// SPDX-License-Identifier: Apache-2.0

// Package placed tells what it costs on the network where gangs were placed, by the measures of the session harness; who
// placed them, and how fast, is not its question.
package placed

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
)

// Quality is the mean over gangs.
type Quality struct {
	// Node, Rack and Block are what crosses their borders in a step, in sizes of the model.
	Node  float64 `json:"node_crossing"`
	Rack  float64 `json:"rack_crossing"`
	Block float64 `json:"block_crossing"`
	// Nodes and Racks are how many hold a gang.
	Nodes float64 `json:"nodes"`
	Racks float64 `json:"racks"`
}

// Of gangs on a cluster that nothing else runs on, from the node of each pod by name.
func Of(topology *sandbox.Topology, jobs []cluster.Job, where map[string]string) (Quality, error) {
	t, err := quality.Topology(fleet(topology))
	if err != nil {
		return Quality{}, fmt.Errorf("weigh placements: %w", err)
	}
	var sum Quality
	for i := range jobs {
		plan, err := quality.Assignments(t, &jobs[i], where)
		if err != nil {
			return Quality{}, fmt.Errorf("weigh placements: %w", err)
		}
		cost, err := placement.Evaluate(t, quality.Demand(&jobs[i]), plan)
		if err != nil {
			return Quality{}, fmt.Errorf("weigh the placement of %s: %w", jobs[i].Name, err)
		}
		tiers := cost.Tiers[placement.NodeTier:]
		sum.Node += tiers[0].Bytes
		sum.Rack += tiers[1].Bytes
		sum.Block += tiers[2].Bytes
		sum.Nodes += float64(tiers[0].Domains)
		sum.Racks += float64(tiers[1].Domains)
	}
	for _, value := range []*float64{&sum.Node, &sum.Rack, &sum.Block, &sum.Nodes, &sum.Racks} {
		*value /= float64(max(1, len(jobs)))
	}
	return sum, nil
}

func fleet(topology *sandbox.Topology) cluster.Fleet {
	var fleet cluster.Fleet
	for _, node := range topology.Nodes() {
		has := node.Status.Allocatable
		gpus := has["nvidia.com/gpu"]
		fleet = append(fleet, cluster.Node{
			Name: node.Name, Rack: node.Labels[sandbox.LabelRack], Block: node.Labels[sandbox.LabelBlock],
			Capacity: cluster.Amounts{CPU: has.Cpu().Value(), Memory: has.Memory().Value() >> 30, GPU: gpus.Value()},
		})
	}
	return fleet
}
