// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/session/churn"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
	"github.com/paddle-volcano/paddle-volcano/test/session/speed"
)

// good returns a report in which all bars are met.
func good() *Report {
	r := &Report{Seed: 7, Speed: []speed.Row{{Nodes: 1000, Pods: 2000, Gang: 20, Ratio: 50, StockBound: 2000, PaddleBound: 2000}}}
	r.Scale = []speed.Scale{{Nodes: 10, Pods: 50, Session: 1}, {Nodes: 20, Pods: 50, Session: 2}, {Nodes: 20, Pods: 100, Bound: 100, Session: 4, Rate: scaleRate, Memory: scaleMemory}}
	r.Overhead = &speed.Overhead{Pairs: 15, Session: speed.Compared{Percent: 1, High: 2}, Allocate: speed.Compared{Percent: 1.5, High: 3}}
	r.Quality = []quality.Row{{Scenario: "a < b", Baseline: "stock", CostRatio: 3, Clusters: costClusters}, {Scenario: "a < b", Baseline: "other", CostRatio: 2}}
	r.QualitySummary = &quality.Summary{Scenarios: 1, Compared: 1, Least: 1.01, LeastIn: "a < b", Geomean: 1.3}
	r.Queues = &quality.Queues{StockPlaced: 5, PluginPlaced: 5}
	r.Optimality = &quality.Nearness{Instances: 50, Limit: 1.02, All: []quality.Near{{Ratio: 1}, {Ratio: 1.02}}}
	r.Churn = &Churn{
		Stock:  &churn.Series{Heap: []float64{1, 2, 3}},
		Paddle: &churn.Series{Sessions: 10_000, Growth: 0.01, Heap: []float64{2, 2, 2}, Goroutines: [2]int{5, 5}},
	}
	r.Bars = r.bars()
	return r
}

func missed(r *Report) (names []string) {
	for _, bar := range r.Bars {
		if !bar.Met {
			names = append(names, bar.Name)
		}
	}
	return names
}

func TestEachBarCanBeMissed(t *testing.T) {
	require.Empty(t, missed(good()))
	require.Zero(t, bars.Missed(good().Bars))
	for _, c := range []struct {
		name  string
		spoil func(*Report)
		want  string
	}{
		{"slow", func(r *Report) { r.Speed[0].Ratio = 49.9 }, "speed: 1000 nodes, 2000 pods, gangs of 20, default sample: stock by paddle"},
		{"not all bound", func(r *Report) { r.Speed[0].PaddleBound = 1999 }, "pods bound"},
		{"not all of the largest cluster bound", func(r *Report) { r.Scale[2].Bound = 99 }, "scale: 20 nodes, 100 pods: pods bound"},
		{"slow on the largest cluster", func(r *Report) { r.Scale[2].Rate-- }, "scale: 20 nodes, 100 pods: pods placed per second"},
		{"much memory", func(r *Report) { r.Scale[2].Memory++ }, "scale: 20 nodes, 100 pods: memory"},
		{"growth with pods", func(r *Report) { r.Scale[2].Session++ }, "scale: 20 nodes, 100 pods: time of a session by that with half the pods"},
		{"growth with nodes", func(r *Report) { r.Scale[0].Session = 0.9 }, "scale: 20 nodes, 50 pods: time of a session by that with half the nodes"},
		{"few pairs", func(r *Report) { r.Overhead.Pairs = 14 }, "pairs"},
		{"dear in the median", func(r *Report) { r.Overhead.Allocate.Percent = 3.1 }, "percent, median"},
		{"perhaps dear", func(r *Report) { r.Overhead.Allocate.High = 3.1 }, "upper 95 % bound"},
		{"others not bound", func(r *Report) { r.Overhead.StockBound = 1 }, "overhead on other jobs: pods bound"},
		{"not compared", func(r *Report) { r.QualitySummary.Scenarios = 2 }, "scenarios compared"},
		{"equal in one scenario", func(r *Report) { r.QualitySummary.Least = 1 }, "least of all scenarios"},
		{"dear", func(r *Report) { r.QualitySummary.Geomean = 1.29 }, "geometric mean"},
		{"more across racks", func(r *Report) { r.QualitySummary.MoreRackBytes = []string{"a"} }, "more bytes across racks"},
		{"fewer gangs", func(r *Report) { r.QualitySummary.FewerGangs = []string{"a"} }, "fewer gangs"},
		{"fewer gangs of a queue", func(r *Report) { r.Queues.PluginPlaced = 4 }, "queues: gangs placed"},
		{"passed over", func(r *Report) { r.Queues.PassedOver = []string{"a"} }, "passed over"},
		{"few instances", func(r *Report) { r.Optimality.Instances = 49 }, "optimality: instances"},
		{"far from the best", func(r *Report) { r.Optimality.Above = []string{"a"} }, "more than 2 % above"},
		{"short churn", func(r *Report) { r.Churn.Paddle.Sessions = 9999 }, "churn: sessions"},
		{"growing", func(r *Report) { r.Churn.Paddle.Growth = 0.011 }, "growth of the heap"},
		{"more goroutines", func(r *Report) { r.Churn.Paddle.Goroutines[1] = 6 }, "goroutines"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			c.spoil(r)
			r.Bars = r.bars()
			require.Len(t, missed(r), 1)
			require.Contains(t, missed(r)[0], c.want)
			require.Equal(t, 1, bars.Missed(r.Bars)+bars.Sliced(r.Bars))
		})
	}
}

func TestQualityOfFewClustersIsNotJudged(t *testing.T) {
	r := good()
	r.Quality[0].Clusters--
	r.QualitySummary.Least = 1
	r.Bars = r.bars()
	require.Zero(t, bars.Missed(r.Bars))
	require.Equal(t, 5, bars.Sliced(r.Bars))
}

func TestPartsThatWereNotRunHaveNoBars(t *testing.T) {
	r := &Report{}
	r.Bars = r.bars()
	require.Empty(t, r.Bars)
}
