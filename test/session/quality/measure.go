// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Settings of the measurement.
type Settings struct {
	Seed uint64
	// Clusters to draw for each scenario.
	Clusters int
}

// Result is everything that was measured, once for each order of the plugin's objective.
type Result struct {
	Bytes   Compared
	Busiest Compared
}

// Compared is the plugin with one objective against the baselines.
type Compared struct {
	Rows    []Row
	Summary Summary
}

// Names of the plugin's objectives.
const (
	argument = "objective"
	Bytes    = "bytes"
	Busiest  = "busiest"
)

// Measure plays all scenarios.
func Measure(s Settings, progress io.Writer) (*Result, error) {
	return measure(Scenarios(), s, progress)
}

func measure(scenarios []Scenario, s Settings, progress io.Writer) (*Result, error) {
	stock := cluster.Stock()
	stage, err := NewStage(stock, cluster.TaskTopology(), cluster.TaskTopologyTogether(), cluster.NetworkTopology(),
		cluster.Paddle(map[string]string{argument: Bytes}), cluster.Paddle(map[string]string{argument: Busiest}))
	if err != nil {
		return nil, err
	}
	defer stage.Close()
	names := make([]string, len(stage.Setups))
	for i := range stage.Setups {
		names[i] = stage.Setups[i].Name
	}
	baselines, bytes, busiest := []int{0, 1, 2, 3}, 4, 5
	result := &Result{}
	for i := range scenarios {
		scenario := &scenarios[i]
		start := time.Now()
		played := make([][]Outcome, s.Clusters)
		for index := range played {
			if played[index], err = stage.Play(Draw(scenario, s.Seed, index)); err != nil {
				return nil, err
			}
		}
		rows := compare(scenario.Name, names, played, bytes, baselines)
		result.Bytes.Rows = append(result.Bytes.Rows, rows...)
		result.Busiest.Rows = append(result.Busiest.Rows, compare(scenario.Name, names, played, busiest, baselines)...)
		if _, err := fmt.Fprintf(progress, "quality: %d of %d, %s, %s\n", i+1, len(scenarios), show(rows), time.Since(start).Round(time.Second)); err != nil {
			return nil, err
		}
	}
	result.Bytes.Summary, result.Busiest.Summary = sum(result.Bytes.Rows, stock.Name), sum(result.Busiest.Rows, stock.Name)
	return result, nil
}

// show is one line of a scenario's rows.
func show(rows []Row) string {
	parts := []string{fmt.Sprintf("%s: placed %d of %d, cost %.1f", rows[0].Scenario, rows[0].OursPlaced, rows[0].Clusters, rows[0].OursCost)}
	for i := range rows {
		parts = append(parts, fmt.Sprintf("%s %d, %.1f", rows[i].Baseline, rows[i].Placed, rows[i].Cost))
	}
	return strings.Join(parts, "; ")
}
