// SPDX-License-Identifier: Apache-2.0

package bench

import "github.com/paddle-volcano/paddle-volcano/test/bars"

// Report is what _output/bench/placement.json holds.
type Report struct {
	Seed      uint64 `json:"seed"`
	GoVersion string `json:"goversion"`
	CPUs      int    `json:"cpus"`
	// Optimality against brute force: of the planner as it is, and with its exact search off.
	Optimality *Optimality `json:"optimality,omitempty"`
	Heuristic  *Optimality `json:"optimality_heuristic,omitempty"`
	// Baselines one by one, and all together.
	Baselines   []BaselineResult `json:"baselines,omitempty"`
	Overall     *Comparison      `json:"baselines_together,omitempty"`
	Speed       []Speed          `json:"speed,omitempty"`
	Allocations []Allocation     `json:"allocations,omitempty"`
	// Bars say what was asked for and what was reached.
	Bars []bars.Bar `json:"bars"`
}

// Optimality compares plans with the optimum on small instances.
type Optimality struct {
	Instances int `json:"instances"`
	// Mean, P99 (nearest rank) and Max of cost by optimum, where all members have room and a plan was found.
	Mean float64 `json:"ratio_mean"`
	P99  float64 `json:"ratio_p99"`
	Max  float64 `json:"ratio_max"`
	// Feasible instances, and those of them where no plan was found or members were left that have room.
	Feasible   int     `json:"feasible"`
	Missed     int     `json:"missed"`
	FoundShare float64 `json:"found_share"`
	// Compared instances are those with a ratio; Exact those where it is 1.
	Compared   int     `json:"compared"`
	Exact      int     `json:"exact"`
	ExactShare float64 `json:"exact_share"`
	// Broken promises: plans that break Check, runs that differ, false claims.
	Broken         int      `json:"broken_promises"`
	BrokenPromises []string `json:"broken_promises_first,omitempty"`
	// Claimed to be optimal, by the planner.
	Claimed int `json:"claimed_optimal"`
	// SecondMean is the mean ratio of the objective's second cost, where the first is equal.
	SecondMean float64 `json:"second_ratio_mean"`
	Collective int     `json:"collective"`
	// Redrawn instances were too large for brute force.
	Redrawn         int     `json:"redrawn"`
	Distribution    []Bin   `json:"distribution"`
	Kinds           []Kind  `json:"kinds"`
	Worst           []Worst `json:"worst"`
	MissedInstances []int   `json:"missed_instances,omitempty"`
}

// Bin counts ratios above the bin before and up to an edge.
type Bin struct {
	UpTo  float64 `json:"up_to"`
	Count int     `json:"count"`
}

// Worst names an instance, to be drawn again with the seed.
type Worst struct {
	Instance int     `json:"instance"`
	Ratio    float64 `json:"ratio"`
}

// Kind sums up the instances that have the same things to them.
type Kind struct {
	Kind      string  `json:"kind"`
	Instances int     `json:"instances"`
	Missed    int     `json:"missed"`
	Worse     int     `json:"worse_than_optimal"`
	Mean      float64 `json:"ratio_mean"`
	P99       float64 `json:"ratio_p99"`
	// Smallest instance that is missed or worse than optimal; -1 if none is.
	Smallest int `json:"smallest_worse"`
}
