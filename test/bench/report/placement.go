// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
)

// placement shows the planner alone.
func placement(r *bench.Report) *Section {
	s := &Section{
		Title:   "The planner: how near to the optimum, how fast",
		About:   "The pure planner without a scheduler: against brute force on small instances, against other ways to place on loaded clusters, and against the clock.",
		Command: fmt.Sprintf("make bench-placement SEED=%d", r.Seed), Bars: r.Bars,
		Facts: machine(r.Machine),
	}
	s.fact("seed", "%d", r.Seed)
	if r.Optimality != nil {
		s.fact("small instances", "%d, of which %d have a plan", r.Optimality.Instances, r.Optimality.Feasible)
		s.figure("mean cost by the optimum", "×", false, r.Optimality.Mean)
		s.figure("plans as cheap as the optimum", "share", true, r.Optimality.ExactShare)
	}
	for i := range r.Baselines {
		b := &r.Baselines[i]
		s.figure("cost by ours, "+b.Name, "×", true, b.CostRatio)
	}
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("%s on %d nodes", row.Case, row.Nodes)
		if row.Warm {
			name += ", again"
		}
		s.figure(name, "ms", false, row.MS)
	}
	return s
}
