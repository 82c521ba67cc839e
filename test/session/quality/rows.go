// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Row compares one baseline with the plugin in one scenario. Amounts are means over the clusters on which every set-up
// placed the gang; ratios are of those means, the baseline's by the plugin's; bytes are in model sizes per step.
type Row struct {
	Scenario   string  `json:"scenario"`
	Baseline   string  `json:"baseline"`
	CostRatio  float64 `json:"cost_ratio"`
	Cost       float64 `json:"cost"`
	PluginCost float64 `json:"ours_cost"`
	CrossRack  float64 `json:"cross_rack_bytes"`
	PluginRack float64 `json:"ours_cross_rack_bytes"`

	// Clusters drawn, those that all set-ups placed the gang on, and those that the baseline and the plugin did.
	Clusters     int `json:"clusters"`
	Compared     int `json:"compared"`
	Placed       int `json:"placed"`
	PluginPlaced int `json:"ours_placed"`
}

// least is what a mean counts as at least when it is divided: one size of the model per step at price 1. So 0 by 0 is 1,
// and x by 0 is x.
const least = 1.0

func ratio(baseline, plugin float64) float64 { return max(baseline, least) / max(plugin, least) }

// compare returns the rows of one scenario. Outcomes are by cluster, and then as names: the baselines, and the plugin as the last.
func compare(scenario string, names []string, played [][]Outcome) []Row {
	sums, placed, compared := make([]Outcome, len(names)), make([]int, len(names)), 0
	for _, outcomes := range played {
		all := true
		for i := range outcomes {
			all = all && outcomes[i].Placed
			if outcomes[i].Placed {
				placed[i]++
			}
		}
		if !all {
			continue
		}
		compared++
		for i := range outcomes {
			sums[i].Cost += outcomes[i].Cost
			sums[i].Rack += outcomes[i].Rack
		}
	}
	for i := range sums {
		sums[i].Cost /= float64(max(1, compared))
		sums[i].Rack /= float64(max(1, compared))
	}
	last := len(names) - 1
	rows := make([]Row, 0, last)
	for b, them := range sums[:last] {
		rows = append(rows, Row{
			Scenario: scenario, Baseline: names[b], CostRatio: ratio(them.Cost, sums[last].Cost),
			Cost: them.Cost, PluginCost: sums[last].Cost, CrossRack: them.Rack, PluginRack: sums[last].Rack,
			Clusters: len(played), Compared: compared, Placed: placed[b], PluginPlaced: placed[last],
		})
	}
	return rows
}

// Summary is what the rows come to, against the best baseline of each scenario.
type Summary struct {
	Scenarios int `json:"scenarios"`
	// Compared scenarios are those with a cluster that every set-up placed the gang on.
	Compared int `json:"compared"`
	// Geomean over the scenarios of the cheapest baseline's cost by the plugin's; Least is the least of them.
	Geomean float64 `json:"cost_ratio_geomean"`
	Least   float64 `json:"cost_ratio_least"`
	// LeastIn is its scenario.
	LeastIn string `json:"cost_ratio_least_in"`
	// MoreRackBytes are the scenarios in which more crosses racks than with the baseline that has the least of it.
	MoreRackBytes []string `json:"more_rack_bytes_in"`
	// FewerGangs are the scenarios in which stock places more gangs.
	FewerGangs []string `json:"fewer_gangs_in"`
}

// sum up rows, which are ordered by scenario.
func sum(rows []Row, stock string) *Summary {
	s := &Summary{MoreRackBytes: []string{}, FewerGangs: []string{}}
	var costs []float64
	for lo := 0; lo < len(rows); {
		hi := lo
		for hi < len(rows) && rows[hi].Scenario == rows[lo].Scenario {
			hi++
		}
		of := rows[lo:hi]
		lo = hi
		s.Scenarios++
		best := of[0]
		for _, row := range of {
			best.CostRatio, best.CrossRack = min(best.CostRatio, row.CostRatio), min(best.CrossRack, row.CrossRack)
			if row.Baseline == stock && row.PluginPlaced < row.Placed {
				s.FewerGangs = append(s.FewerGangs, row.Scenario)
			}
		}
		if best.Compared == 0 {
			continue
		}
		s.Compared++
		costs = append(costs, best.CostRatio)
		if s.Least == 0 || best.CostRatio < s.Least {
			s.Least, s.LeastIn = best.CostRatio, best.Scenario
		}
		if best.PluginRack > best.CrossRack*(1+rounding) {
			s.MoreRackBytes = append(s.MoreRackBytes, best.Scenario)
		}
	}
	s.Geomean = stats.Geomean(costs)
	return s
}

// rounding is what sums of the same numbers in another order may differ by.
const rounding = 1e-9

// Settings of the measurement.
type Settings struct {
	Seed uint64
	// Clusters to draw for each scenario.
	Clusters int
}

// Measure runs all scenarios, and compares the plugin with Volcano's set-ups.
func Measure(s Settings, progress io.Writer) ([]Row, *Summary, error) {
	return measure(Scenarios(), s, progress)
}

func measure(scenarios []Scenario, s Settings, progress io.Writer) ([]Row, *Summary, error) {
	stock := cluster.Stock()
	// The baselines come first, the plugin is the last.
	stage, err := NewStage(stock, cluster.TaskTopology(), cluster.TaskTopologyTogether(), cluster.NetworkTopology(), cluster.Paddle(nil))
	if err != nil {
		return nil, nil, err
	}
	defer stage.Close()
	names := make([]string, len(stage.Setups))
	for i := range stage.Setups {
		names[i] = stage.Setups[i].Name
	}
	var all []Row
	for i := range scenarios {
		scenario := &scenarios[i]
		start := time.Now()
		played := make([][]Outcome, s.Clusters)
		for index := range played {
			if played[index], err = stage.Play(Draw(scenario, s.Seed, index)); err != nil {
				return nil, nil, err
			}
		}
		rows := compare(scenario.Name, names, played)
		all = append(all, rows...)
		result.Say(progress, "quality: %d of %d, %s, %s", i+1, len(scenarios), show(rows), time.Since(start).Round(time.Second))
	}
	return all, sum(all, stock.Name), nil
}

// show returns one line of a scenario's rows.
func show(rows []Row) string {
	parts := []string{fmt.Sprintf("%s: placed %d of %d, cost %.1f", rows[0].Scenario, rows[0].PluginPlaced, rows[0].Clusters, rows[0].PluginCost)}
	for i := range rows {
		parts = append(parts, fmt.Sprintf("%s %d, %.1f", rows[i].Baseline, rows[i].Placed, rows[i].Cost))
	}
	return strings.Join(parts, "; ")
}
