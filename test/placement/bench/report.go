// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// Report is what _output/bench/placement.json holds.
type Report struct {
	Seed    uint64         `json:"seed"`
	Machine result.Machine `json:"machine"`
	// Optimality against brute force.
	Optimality *Optimality `json:"optimality,omitempty"`
	// Baselines one by one, and all together.
	Baselines   []BaselineResult `json:"baselines,omitempty"`
	Overall     *Comparison      `json:"baselines_together,omitempty"`
	Speed       []Speed          `json:"speed,omitempty"`
	Allocations []Allocation     `json:"allocations,omitempty"`
	Hybrid      *Hybrid          `json:"hybrid,omitempty"`
	// Bars say what was asked for and what was reached.
	Bars []bars.Bar `json:"bars"`
}

// Optimality compares plans with the optimum on small instances.
type Optimality struct {
	Instances int `json:"instances"`
	// Mean, P99 (nearest rank) and Max of cost by optimum, where all members fit and a plan was found.
	Mean float64 `json:"ratio_mean"`
	P99  float64 `json:"ratio_p99"`
	Max  float64 `json:"ratio_max"`
	// Feasible instances, and those of them where no plan was found or members were left that fit.
	Feasible   int     `json:"feasible"`
	Missed     int     `json:"missed"`
	FoundShare float64 `json:"found_share"`
	// Compared instances are those with a ratio; ExactShare is the share of them where it is 1.
	Compared   int     `json:"compared"`
	ExactShare float64 `json:"exact_share"`
	// Violated guarantees: plans that break Check, runs that differ, false claims.
	Broken         int      `json:"broken_promises"`
	BrokenPromises []string `json:"broken_promises_first,omitempty"`
	// Worst are the ten instances of the greatest ratios above 1.
	Worst           []Worst `json:"worst"`
	MissedInstances []int   `json:"missed_instances,omitempty"`
}

// Worst names an instance, to be drawn again with the seed.
type Worst struct {
	Instance int     `json:"instance"`
	Ratio    float64 `json:"ratio"`
}

// Comparison of the planner's plans with those of all baselines together.
type Comparison struct {
	Clusters int `json:"clusters"`
	// NoPlan counts clusters where the planner found none although the job fits.
	NoPlan int `json:"no_plan"`
	// WorseInstances are clusters where the planner's cost is above the best baseline's.
	Worse          int   `json:"worse_than_best"`
	WorseInstances []int `json:"worse_instances,omitempty"`
	// Equal counts those where the two are equal, and BusiestNotAbove the share of them where its busiest uplink is not
	// above that of any baseline of equal cost.
	Equal           int      `json:"equal_to_best"`
	BusiestNotAbove float64  `json:"busiest_not_above_at_equal_cost"`
	BusiestAbove    []int    `json:"busiest_above_instances,omitempty"`
	Broken          []string `json:"broken_promises,omitempty"`
}

// BaselineResult is one baseline on all clusters. CostRatio is the geometric mean of the baseline's cost by the planner's, each at
// least one size of the model, over the clusters where the baseline placed the job.
type BaselineResult struct {
	Name      string  `json:"name"`
	CostRatio float64 `json:"cost_ratio_geomean"`
	Cornered  int     `json:"no_room_found"`

	ratios []float64
}
