// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/session/report"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// session shows the plugin inside Volcano's sessions.
func session(r *report.Report) *Section {
	s := &Section{
		Title:   "Inside the scheduler: how long a session takes, how good it places",
		About:   "Whole sessions of Volcano's own scheduler in one process, with stock plugins and with ours, on the same clusters and jobs.",
		Command: fmt.Sprintf("make bench-session SEED=%d", r.Seed), Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("seed", "%d", r.Seed)
	times := Chart{Title: "One session over all pods", Unit: "seconds, less is better", Log: true}
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("%d nodes, %d pods in gangs of %d, %s", row.Nodes, row.Pods, row.Gang, row.Mode)
		if row.Percentage != 0 {
			name += fmt.Sprintf(", percentageNodesToFind %d", row.Percentage)
		}
		times.Groups = append(times.Groups, Group{Name: name, Rows: []Row{
			{Name: "stock", Kind: kindStock, Values: row.StockRuns}, {Name: "paddle", Kind: kindOurs, Values: row.PaddleRuns},
		}})
		s.figure("session, "+name, "s", false, row.PaddleRuns...)
		s.figure("stock's time by ours, "+name, "×", true, row.Ratio)
	}
	s.chart(times)
	if r.QualitySummary != nil {
		cost := Chart{Title: "Cost of baselines' plans by ours", Unit: "geometric mean over scenarios, above 1 ours is cheaper"}
		baselines, ratios := []string{}, map[string][]float64{}
		for i := range r.Quality {
			row := &r.Quality[i]
			if ratios[row.Baseline] == nil {
				baselines = append(baselines, row.Baseline)
			}
			ratios[row.Baseline] = append(ratios[row.Baseline], row.CostRatio)
		}
		group := Group{}
		for _, b := range baselines {
			group.Rows = append(group.Rows, Row{Name: b, Kind: kindStock, Values: []float64{stats.Geomean(ratios[b])}})
			s.figure("cost by ours, "+b, "×", true, stats.Geomean(ratios[b]))
		}
		cost.Groups = append(cost.Groups, group)
		s.chart(cost)
	}
	if r.Churn != nil && r.Churn.Paddle != nil && r.Churn.Stock != nil {
		heap := Chart{Title: "Heap while jobs come and go", Unit: "MB after a garbage collection"}
		heap.Groups = []Group{halves("stock", kindStock, megabytes(r.Churn.Stock.Heap)), halves("paddle", kindOurs, megabytes(r.Churn.Paddle.Heap))}
		s.chart(heap)
		s.figure("growth of the heap", "% over all sessions", false, 100*r.Churn.Paddle.Growth)
	}
	if r.OverheadPercent != nil {
		s.figure("what the plugin costs other jobs", "% of a session", false, *r.OverheadPercent)
	}
	return s
}

func megabytes(bytes []float64) []float64 {
	scaled := make([]float64, len(bytes))
	for i := range bytes {
		scaled[i] = bytes[i] / 1e6
	}
	return scaled
}
