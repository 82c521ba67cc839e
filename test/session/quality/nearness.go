// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Search is how hard to look for something better than what the plugin found.
type Search struct {
	Seed uint64
	// PerScenario instances of each scenario.
	PerScenario int
	// Effort of the planner: its budget in multiples of the usual one.
	Effort int
}

// Near is one instance: the cost of the plugin's placement in a session, and of the plan that the planner finds with a
// larger budget, in weighted bytes in model sizes per step.
type Near struct {
	Scenario string  `json:"scenario"`
	Cluster  int     `json:"cluster"`
	Placed   bool    `json:"placed"`
	Plugin   float64 `json:"ours"`
	Effort   float64 `json:"planner_effort"`
	// Ratio of the plugin's cost by the planner's.
	Ratio float64 `json:"ratio"`
}

// Nearness is all instances.
type Nearness struct {
	Instances int `json:"instances"`
	Effort    int `json:"planner_effort"`
	// Mean and Max of the ratios; Above are the instances whose ratio is above Limit, or that were not placed.
	Mean  float64  `json:"ratio_mean"`
	Max   float64  `json:"ratio_max"`
	Limit float64  `json:"limit"`
	Above []string `json:"above_limit"`
	All   []Near   `json:"all"`
}

// limit is how much more the plugin's placement may cost.
const limit = 1.02

// MeasureNearness runs the instances in sessions, and searches for better plans.
func MeasureNearness(s Search, progress io.Writer) (*Nearness, error) {
	return nearness(Scenarios(), s, progress)
}

func nearness(scenarios []Scenario, s Search, progress io.Writer) (*Nearness, error) {
	stage, err := NewStage(cluster.Paddle(nil))
	if err != nil {
		return nil, err
	}
	defer stage.Close()
	n := &Nearness{Effort: s.Effort, Limit: limit, Above: []string{}}
	for index := range s.PerScenario {
		for i := range scenarios {
			in := Draw(&scenarios[i], s.Seed, index)
			outcomes, err := stage.Play(in)
			if err != nil {
				return nil, err
			}
			t, err := Topology(in.Fleet)
			if err != nil {
				return nil, err
			}
			plan, err := placement.Solve(t, Demand(&in.Job), placement.Options{Effort: s.Effort})
			if err != nil {
				return nil, fmt.Errorf("%s, plan with effort %d: %w", in, s.Effort, err)
			}
			near := Near{Scenario: in.Name, Cluster: index, Placed: outcomes[0].Placed, Plugin: outcomes[0].Cost, Effort: plan.Cost.WeightedBytes}
			near.Ratio = ratio(near.Plugin, near.Effort)
			n.add(in, near)
			result.Say(progress, "optimality: %s: plugin %.2f, with effort %d %.2f", in, near.Plugin, s.Effort, near.Effort)
		}
	}
	return n, nil
}

func (n *Nearness) add(in *Instance, near Near) {
	n.Instances++
	n.All = append(n.All, near)
	if !near.Placed || near.Ratio > limit {
		n.Above = append(n.Above, in.String())
	}
	n.Mean += (near.Ratio - n.Mean) / float64(n.Instances)
	n.Max = max(n.Max, near.Ratio)
}
