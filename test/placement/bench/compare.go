// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/baselines"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Duel is one loaded cluster: the planner's plan and those of the baselines.
type Duel struct {
	Planner *Placing // nil if the planner found no plan
	Others  []*Placing
	Broken  error
}

// Placing is a plan and what it costs.
type Placing struct {
	Name     string
	Cornered bool // some pod fits no node
	Cost     placement.Cost
}

// NewDuel plans the job of one loaded cluster with the planner and with all baselines.
func NewDuel(seed uint64, index int) *Duel {
	duel, in := &Duel{}, instances.Cluster(seed, uint64(index))
	plan, err := placement.Solve(in.Topology, in.Demand, in.Options)
	if err == nil {
		if err = legal.Check(in.Topology, in.Demand, plan.Assignments); err == nil {
			duel.Planner, err = weigh(in, "planner", plan.Assignments)
		}
	}
	if err != nil {
		duel.Broken = fmt.Errorf("cluster %d: %w", index, err)
	}
	for i, b := range baselines.All() {
		placing := &Placing{Name: b.Name, Cornered: true}
		if assignments, ok := b.Place(in, rand.New(rand.NewPCG(seed, uint64(index*len(baselines.All())+i)))); ok {
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
	if err == nil && renumbered.Cost.WeightedBytes < placing.Cost.WeightedBytes {
		return renumbered, nil
	}
	return placing, err
}

func weigh(in *instances.Loaded, name string, assignments []placement.Assignment) (*Placing, error) {
	if err := legal.Check(in.Topology, in.Demand, assignments); err != nil {
		return nil, err
	}
	cost, err := placement.Evaluate(in.Topology, in.Demand, assignments)
	if err != nil {
		return nil, err
	}
	return &Placing{Name: name, Cost: cost}, nil
}

// measureBaselines compares the planner with the baselines on s.Clusters clusters.
func measureBaselines(s Settings, progress io.Writer) (*Comparison, []BaselineResult) {
	return compare(spread(s.Clusters, "baselines", progress, func(i int) *Duel { return NewDuel(s.Seed, i) }))
}

// unit is one size of the model of every job on a loaded cluster, in bytes.
const unit = 1e9

func compare(duels []*Duel) (*Comparison, []BaselineResult) {
	o := &Comparison{Clusters: len(duels)}
	var results []BaselineResult
	notAbove := 0
	for i, duel := range duels {
		if results == nil {
			for _, other := range duel.Others {
				results = append(results, BaselineResult{Name: other.Name})
			}
		}
		if duel.Broken != nil {
			o.Broken = append(o.Broken, duel.Broken.Error())
		}
		if duel.Planner == nil {
			o.NoPlan++
		}
		placed, worse, equal, above := false, false, false, false
		for b, other := range duel.Others {
			if other.Cornered {
				results[b].Cornered++
				continue
			}
			placed = true
			if duel.Planner == nil {
				worse = true
				continue
			}
			baseline, planner := other.Cost, duel.Planner.Cost
			results[b].ratios = append(results[b].ratios, max(baseline.WeightedBytes, unit)/max(planner.WeightedBytes, unit))
			switch {
			case same(baseline.WeightedBytes, planner.WeightedBytes):
				equal = true
				above = above || !same(planner.BusiestSeconds, baseline.BusiestSeconds) && planner.BusiestSeconds > baseline.BusiestSeconds
			case baseline.WeightedBytes < planner.WeightedBytes:
				worse = true
			}
		}
		switch {
		case !placed:
		case worse:
			o.Worse++
			o.WorseInstances = append(o.WorseInstances, i)
		case equal && above:
			o.Equal++
			o.BusiestAbove = append(o.BusiestAbove, i)
		case equal:
			o.Equal++
			notAbove++
		}
	}
	o.BusiestNotAbove = 1
	if o.Equal > 0 {
		o.BusiestNotAbove = float64(notAbove) / float64(o.Equal)
	}
	for b := range results {
		results[b].CostRatio = stats.Geomean(results[b].ratios)
	}
	return o, results
}
