// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/baselines"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// Tiers of the loaded clusters.
const (
	rackTier  = 2
	blockTier = 3
)

// gangs are the GPUs of the gangs that fragmentation is measured with, at nodes, racks and blocks.
var gangs = [...]int64{placement.NodeTier: 8, rackTier: 64, blockTier: 256}

// Duel is one loaded cluster: our plan and those of the baselines.
type Duel struct {
	Cluster *instances.Loaded
	Ours    *Placing // nil if the planner found no plan
	Others  []*Placing
	Broken  error
}

// Placing is a plan and what it costs.
type Placing struct {
	Name        string
	Cornered    bool // some pod found no room
	Assignments []placement.Assignment
	Cost        placement.Cost
	// Fragmentation left behind, by tier.
	Fragmentation [blockTier + 1]float64
}

// Fight plans the job of one loaded cluster with the planner and with all baselines.
func Fight(seed uint64, index int) *Duel {
	duel := &Duel{Cluster: instances.Cluster(seed, uint64(index))}
	in := duel.Cluster
	plan, err := placement.Solve(in.Topology, in.Demand, in.Options)
	if err == nil {
		if err = placement.Check(in.Topology, in.Demand, plan); err == nil {
			duel.Ours, err = weigh(in, "ours", plan.Assignments)
		}
	}
	if err != nil {
		duel.Broken = fmt.Errorf("cluster %d: %w", index, err)
	}
	for i, b := range baselines.All() {
		placing := &Placing{Name: b.Name, Cornered: true}
		if assignments, ok := b.Place(in, rand.New(rand.NewPCG(seed, uint64(index*len(gangs)+i)))); ok {
			if placing, err = weighBest(in, b.Name, assignments); err != nil {
				duel.Broken = fmt.Errorf("cluster %d, baseline %s: %w", index, b.Name, err)
				placing = &Placing{Name: b.Name, Cornered: true}
			}
		}
		duel.Others = append(duel.Others, placing)
	}
	return duel
}

// weighBest takes the cheaper of the numbering of pods that a baseline gave and the one along the tree.
func weighBest(in *instances.Loaded, name string, assignments []placement.Assignment) (*Placing, error) {
	placing, err := weigh(in, name, assignments)
	if err != nil || in.Demand.Pattern != placement.Collective {
		return placing, err
	}
	renumbered, err := weigh(in, name, baselines.Renumbered(assignments))
	if err == nil && renumbered.Cost.Priced < placing.Cost.Priced {
		return renumbered, nil
	}
	return placing, err
}

func weigh(in *instances.Loaded, name string, assignments []placement.Assignment) (*Placing, error) {
	if err := placement.Check(in.Topology, in.Demand, &placement.Plan{Assignments: assignments}); err != nil {
		return nil, err
	}
	cost, err := placement.Evaluate(in.Topology, in.Demand, assignments)
	if err != nil {
		return nil, err
	}
	placing := &Placing{Name: name, Assignments: assignments, Cost: cost}
	mark := in.Topology.Begin()
	defer in.Topology.Rollback(mark)
	for _, a := range assignments {
		if _, err := in.Topology.Take(a.Node, in.Demand.Roles[a.Role].Request); err != nil {
			return nil, err
		}
	}
	for tier := placement.NodeTier; tier <= blockTier; tier++ {
		placing.Fragmentation[tier] = fragmentation(in.Topology, tier, gangs[tier])
	}
	return placing, nil
}

// fragmentation is the share of free GPUs that gangs of g GPUs, each within one domain of a tier, leave over:
//
//	1 - sum_d g floor(free_d / g) / sum_d free_d
func fragmentation(t *placement.Topology, tier int, g int64) float64 {
	var used, free int64
	for d, hi := t.Domains(tier); d < hi; d++ {
		gpus := t.FreeGPUs(d)
		used += g * (gpus / g)
		free += gpus
	}
	if free == 0 {
		return 0
	}
	return 1 - float64(used)/float64(free)
}

// measureBaselines runs so many clusters.
func measureBaselines(s Settings, progress io.Writer) (*Comparison, []BaselineResult) {
	duels := spread(s.Clusters, s.workers(), "baselines", progress, func(i int) *Duel {
		duel := Fight(s.Seed, i)
		duel.Cluster = &instances.Loaded{Load: duel.Cluster.Load, Instance: instances.Instance{Demand: duel.Cluster.Demand}} // the rest is large
		return duel
	})
	return compare(duels)
}
