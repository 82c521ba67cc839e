// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/session"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// session shows the plugin inside Volcano's sessions.
func inSessions(r *session.Report) *Section {
	s := &Section{
		Title:   "Inside the scheduler: how long a session takes, how good it places",
		About:   "Whole sessions of Volcano's own scheduler in one process, with stock plugins and with ours, on the same clusters and jobs.",
		Command: fmt.Sprintf("make bench-session SEED=%d", r.Seed), Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("seed", "%d", r.Seed)
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("%d nodes, %d pods in gangs of %d, %s", row.Nodes, row.Pods, row.Gang, row.Mode)
		if row.Percentage != 0 {
			name += fmt.Sprintf(", percentageNodesToFind %d", row.Percentage)
		}
		s.figure("session of stock, "+name, "s", false, row.StockRuns...)
		s.figure("session, "+name, "s", false, row.PaddleRuns...)
		s.figure("stock's time by ours, "+name, "×", true, row.Ratio)
	}
	if r.QualitySummary != nil {
		baselines, ratios := []string{}, map[string][]float64{}
		for i := range r.Quality {
			row := &r.Quality[i]
			if ratios[row.Baseline] == nil {
				baselines = append(baselines, row.Baseline)
			}
			ratios[row.Baseline] = append(ratios[row.Baseline], row.CostRatio)
		}
		for _, b := range baselines {
			s.figure("cost by ours, "+b, "×", true, stats.Geomean(ratios[b]))
		}
	}
	if r.Churn != nil && r.Churn.Paddle != nil && r.Churn.Stock != nil {
		s.halves("heap of stock", "MB", megabytes(r.Churn.Stock.Heap))
		s.halves("heap of paddle", "MB", megabytes(r.Churn.Paddle.Heap))
		s.figure("growth of the heap", "% over all sessions", false, 100*r.Churn.Paddle.Growth)
	}
	if r.Overhead != nil {
		s.figure("what the plugin costs other jobs", "% of a session", false, r.Overhead.Worse().Percent)
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
