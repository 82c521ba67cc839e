// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Settings of the measurement.
type Settings struct {
	Seed uint64
	// Clusters to draw for each scenario.
	Clusters int
}

// Measure plays all scenarios, and compares the plugin with Volcano's set-ups.
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

// show is one line of a scenario's rows.
func show(rows []Row) string {
	parts := []string{fmt.Sprintf("%s: placed %d of %d, cost %.1f", rows[0].Scenario, rows[0].OursPlaced, rows[0].Clusters, rows[0].OursCost)}
	for i := range rows {
		parts = append(parts, fmt.Sprintf("%s %d, %.1f", rows[i].Baseline, rows[i].Placed, rows[i].Cost))
	}
	return strings.Join(parts, "; ")
}
