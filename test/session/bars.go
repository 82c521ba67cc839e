// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

// Limits that a report is judged by.
const (
	allocateRatio   = 50
	overheadPercent = 3
	overheadPairs   = 15
	costGeomean     = 1.3
	costClusters    = 10 // drawn for each scenario
	nearInstances   = 50
	churnSessions   = 10_000
	// Of the largest cluster: pods placed per second, and MiB.
	scaleRate   = 20_000
	scaleMemory = 1536
	// A heap that grows by less than this share of itself over all sessions does not grow.
	heapGrowth = 0.01
)

func (r *Report) bars() []bars.Bar {
	all := append(r.speedBars(), r.overheadBars()...)
	all = append(all, r.scaleBars()...)
	all = append(all, r.qualityBars()...)
	if o := r.Optimality; o != nil {
		all = append(all,
			bars.Whole("optimality: instances", float64(o.Instances), nearInstances),
			bars.Most(fmt.Sprintf("optimality: instances more than %.0f %% above the best known", 100*(o.Limit-1)), float64(len(o.Above)), 0))
	}
	if c := r.Churn; c != nil {
		all = append(all,
			bars.Whole("churn: sessions", float64(c.Paddle.Sessions), churnSessions),
			bars.Most("churn: growth of the heap, as a share of it", c.Paddle.Growth, heapGrowth),
			bars.Most("churn: more goroutines than at the start", float64(c.Paddle.Goroutines[1]-c.Paddle.Goroutines[0]), 0))
	}
	return all
}

func (r *Report) speedBars() []bars.Bar {
	var all []bars.Bar
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("speed: %d nodes, %d pods, gangs of %d, %s", row.Nodes, row.Pods, row.Gang, percentage(row.Percentage))
		all = append(all,
			bars.Least(name+": stock by paddle", row.Ratio, allocateRatio),
			bars.Least(name+": pods bound", float64(row.PaddleBound), float64(max(row.Pods, row.StockBound))))
	}
	return all
}

// scaleBars judges the largest cluster, and how times grow to it from clusters with half the pods or half the nodes.
func (r *Report) scaleBars() []bars.Bar {
	if len(r.Scale) == 0 {
		return nil
	}
	largest := &r.Scale[len(r.Scale)-1]
	name := fmt.Sprintf("scale: %d nodes, %d pods: ", largest.Nodes, largest.Pods)
	all := []bars.Bar{
		bars.Least(name+"pods bound", float64(largest.Bound), float64(largest.Pods)),
		bars.Least(name+"pods placed per second", largest.Rate, scaleRate),
		bars.Most(name+"memory, MiB", largest.Memory, scaleMemory),
	}
	for i := range r.Scale[1:] {
		before, row := &r.Scale[i], &r.Scale[i+1]
		growth, twice := row.Session/before.Session, "pods"
		if row.Nodes > before.Nodes {
			twice = "nodes"
		}
		all = append(all, bars.Most(fmt.Sprintf("scale: %d nodes, %d pods: time of a session by that with half the %s", row.Nodes, row.Pods, twice), growth, 2))
	}
	return all
}

func percentage(p int32) string {
	if p == 0 {
		return "default sample"
	}
	return fmt.Sprintf("%d %% of nodes", p)
}

func (r *Report) overheadBars() []bars.Bar {
	o := r.Overhead
	if o == nil {
		return nil
	}
	return []bars.Bar{
		bars.Whole("overhead on other jobs: pairs", float64(o.Pairs), overheadPairs),
		bars.Most("overhead on other jobs: percent, median", o.Worse().Percent, overheadPercent),
		bars.Most("overhead on other jobs: percent, upper 95 % bound of the median", o.Worse().High, overheadPercent),
		bars.Least("overhead on other jobs: pods bound", float64(o.PaddleBound), float64(o.StockBound)),
	}
}

func (r *Report) qualityBars() []bars.Bar {
	var all []bars.Bar
	if s := r.QualitySummary; s != nil {
		whole := len(r.Quality) > 0 && r.Quality[0].Clusters >= costClusters
		all = append(all, bars.OfSlice(whole,
			bars.Least("quality: scenarios compared", float64(s.Compared), float64(s.Scenarios)),
			bars.Above("quality: cheapest baseline's cost by ours, least of all scenarios", s.Least, 1),
			bars.Least("quality: cheapest baseline's cost by ours, geometric mean", s.Geomean, costGeomean),
			bars.Most("quality: scenarios with more bytes across racks than the best baseline", float64(len(s.MoreRackBytes)), 0),
			bars.Most("quality: scenarios with fewer gangs placed than stock", float64(len(s.FewerGangs)), 0))...)
	}
	if q := r.Queues; q != nil {
		all = append(all,
			bars.Least("queues: gangs placed", float64(q.PluginPlaced), float64(q.StockPlaced)),
			bars.Most("queues: jobs passed over that had room at their turn", float64(len(q.PassedOver)), 0))
	}
	return all
}
