// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/placement/baselines"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
)

// Hybrid is what jobs with hybrid parallelism are judged by.
type Hybrid struct {
	Optimality *Optimality `json:"optimality"`
	Speed      []Speed     `json:"speed"`
	Clusters   int         `json:"clusters"`
	// Racks is what all jobs send over the borders of racks, by what they send as the best of the Baselines places them.
	Racks     float64            `json:"bytes_across_racks_by_best"`
	Baselines map[string]float64 `json:"bytes_across_racks_by_each"`
	Broken    []string           `json:"broken_promises,omitempty"`
}

const (
	hybridInstances = 5_000
	hybridClusters  = 200
)

// hybridCases returns two large jobs: 512 pods of 8 GPUs, and 1536 of 4 of which two make a tensor parallel group.
func hybridCases() []job {
	of := func(pods int, gpus int64, h placement.Parallelism) func(int) *placement.Demand {
		d := instances.Ring(pods, []int64{8 * gpus, 32 * gpus, gpus})
		d.Parallelism = h
		return func(int) *placement.Demand { return d }
	}
	return []job{
		{"512 pods of 8 GPUs, hybrid", largeFleet, 1, of(512, 8, placement.Parallelism{Tensor: 8, Sharding: 8, Pipeline: 8})},
		{"1536 pods of 4 GPUs, hybrid", smallFleet, 1, of(1536, 4, placement.Parallelism{Tensor: 8, Sharding: 8, Pipeline: 12})},
	}
}

func measureHybrid(s Settings, progress io.Writer) (*Hybrid, error) {
	h := &Hybrid{Clusters: min(s.Clusters, hybridClusters), Baselines: map[string]float64{}}
	h.Optimality = measureOptimality(Settings{Seed: s.Seed, Instances: min(s.Instances, hybridInstances)}, instances.DrawnHybrid, progress)
	for _, c := range hybridCases() {
		rows, err := c.run(instances.NewFleet(s.Seed, c.fleet.nodes, c.fleet.racks, c.fleet.blocks))
		if err != nil {
			return nil, err
		}
		h.Speed = append(h.Speed, rows...)
	}
	planner := 0.0
	for i, cluster := range spread(h.Clusters, "hybrid", progress, func(i int) map[string]float64 { return acrossRacks(s.Seed, i) }) {
		for name, bytes := range cluster {
			h.Baselines[name] += bytes
		}
		if _, ok := cluster["planner"]; !ok {
			h.Broken = append(h.Broken, fmt.Sprintf("cluster %d has no plan", i))
		}
		planner += cluster["planner"]
	}
	delete(h.Baselines, "planner")
	for name, bytes := range h.Baselines {
		h.Baselines[name] = planner / bytes
		h.Racks = max(h.Racks, h.Baselines[name])
	}
	return h, nil
}

// acrossRacks returns what the job of a loaded cluster sends over the borders of racks in a step, by who places it.
func acrossRacks(seed uint64, index int) map[string]float64 {
	in := instances.HybridCluster(seed, uint64(index))
	d, t := in.Demand, in.Topology
	sent := map[string]float64{}
	weigh := func(name string, plan []placement.Assignment) {
		cost, err := placement.Evaluate(t, d, plan)
		if err == nil && legal.Check(t, d, plan) == nil {
			sent[name] = cost.Tiers[placement.NodeTier+1].Bytes
		}
	}
	solved := func(name string, group int, h placement.Parallelism) {
		other := *d
		other.GroupSize, other.Parallelism = group, h
		if plan, err := placement.Solve(t, &other, in.Options); err == nil {
			weigh(name, plan.Assignments)
		}
	}
	h, per := d.Parallelism, int(t.GPUs(d.Roles[0].Request))
	inner := max(1, h.Tensor*h.Sharding/per)
	solved("planner", 0, h)
	solved("one group size", h.Tensor*h.Pipeline*h.Sharding, placement.Parallelism{})
	solved("ranks by node name", 0, placement.Parallelism{})
	weigh("Kueue, several layers", baselines.Layered(in, []int{max(1, h.Tensor/per), inner, inner * h.Pipeline}))
	weigh("KAI, segments", baselines.Segments(in, inner))
	return sent
}

func (h *Hybrid) bars() []bars.Bar {
	all := []bars.Bar{
		bars.Whole("hybrid: instances", float64(h.Optimality.Instances), hybridInstances),
		bars.Most("hybrid: mean ratio", h.Optimality.Mean, 1.01),
		bars.Most("hybrid: broken promises", float64(h.Optimality.Broken+len(h.Broken)), 0),
		bars.Most("hybrid: bytes across racks by the best baseline", h.Racks, 0.6),
	}
	for i, limit := range []float64{20, 20, 200, 200} {
		all = append(all, bars.Most(fmt.Sprintf("hybrid: %s (warm: %v): milliseconds", h.Speed[i].Case, h.Speed[i].Warm), h.Speed[i].MS, limit))
	}
	return all
}
