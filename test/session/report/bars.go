// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
)

// Bar is one thing that was asked for, and whether it was reached.
type Bar struct {
	Name  string  `json:"name"`
	Is    float64 `json:"is"`
	Limit float64 `json:"limit"`
	// Sign is how Is has to stand to Limit: <=, >= or >.
	Sign string `json:"sign"`
	Met  bool   `json:"met"`
}

func most(name string, is, limit float64) Bar { return Bar{name, is, limit, "<=", is <= limit} }

func least(name string, is, limit float64) Bar { return Bar{name, is, limit, ">=", is >= limit} }

func above(name string, is, limit float64) Bar { return Bar{name, is, limit, ">", is > limit} }

// Limits of issue 4.
const (
	allocateRatio   = 50
	overheadPercent = 3
	overheadPairs   = 15
	costGeomean     = 1.3
	nearInstances   = 50
	churnSessions   = 10_000
	// A heap that grows by less than this share of itself over all sessions does not grow.
	heapGrowth = 0.01
)

func (r *Report) bars() []Bar {
	bars := append(r.speedBars(), r.overheadBars()...)
	bars = append(bars, r.qualityBars()...)
	if o := r.Optimality; o != nil {
		bars = append(bars,
			least("optimality: instances", float64(o.Instances), nearInstances),
			most(fmt.Sprintf("optimality: instances more than %.0f %% above the best known", 100*(o.Limit-1)), float64(len(o.Above)), 0))
	}
	if c := r.Churn; c != nil {
		bars = append(bars,
			least("churn: sessions", float64(c.Paddle.Sessions), churnSessions),
			most("churn: growth of the heap, as a share of it", c.Paddle.Growth, heapGrowth),
			most("churn: more goroutines than at the start", float64(c.Paddle.Goroutines[1]-c.Paddle.Goroutines[0]), 0))
	}
	return bars
}

func (r *Report) speedBars() []Bar {
	var bars []Bar
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("speed: %d nodes, %d pods, gangs of %d, %s", row.Nodes, row.Pods, row.Gang, percentage(row.Percentage))
		bars = append(bars,
			least(name+": stock by paddle", row.Ratio, allocateRatio),
			least(name+": pods bound", float64(row.PaddleBound), float64(max(row.Pods, row.StockBound))))
	}
	return bars
}

func percentage(p int32) string {
	if p == 0 {
		return "default sample"
	}
	return fmt.Sprintf("%d %% of nodes", p)
}

func (r *Report) overheadBars() []Bar {
	o := r.Overhead
	if o == nil {
		return nil
	}
	return []Bar{
		least("overhead on other jobs: pairs", float64(o.Pairs), overheadPairs),
		most("overhead on other jobs: percent, median", o.Worse().Percent, overheadPercent),
		most("overhead on other jobs: percent, upper 95 % bound of the median", o.Worse().High, overheadPercent),
		least("overhead on other jobs: pods bound", float64(o.PaddleBound), float64(o.StockBound)),
	}
}

func (r *Report) qualityBars() []Bar {
	var bars []Bar
	if s := r.QualitySummary; s != nil {
		bars = append(bars,
			least("quality: scenarios compared", float64(s.Compared), float64(s.Scenarios)),
			above("quality: cheapest baseline's cost by ours, least of all scenarios", s.Least, 1),
			least("quality: cheapest baseline's cost by ours, geometric mean", s.Geomean, costGeomean),
			most("quality: scenarios with more bytes across racks than the best baseline", float64(len(s.MoreRackBytes)), 0),
			most("quality: scenarios with fewer gangs placed than stock", float64(len(s.FewerGangs)), 0))
	}
	if q := r.Queues; q != nil {
		bars = append(bars,
			least("queues: gangs placed", float64(q.OursPlaced), float64(q.StockPlaced)),
			most("queues: jobs passed over that had room at their turn", float64(len(q.PassedOver)), 0))
	}
	return bars
}

// ShowBars prints a table of them.
func (r *Report) ShowBars(out io.Writer) error {
	for _, b := range r.Bars {
		word := "met"
		if !b.Met {
			word = "MISSED"
		}
		if _, err := fmt.Fprintf(out, "%-6s  %-78s %12.5g %2s %g\n", word, b.Name, b.Is, b.Sign, b.Limit); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d of %d missed\n", r.Missed, len(r.Bars))
	return err
}
