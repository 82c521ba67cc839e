// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
)

// Bar is one thing that was asked for, and whether it was reached.
type Bar struct {
	Name  string  `json:"name"`
	Is    float64 `json:"is"`
	Limit float64 `json:"limit"`
	// Least says that the limit is from below.
	Least bool `json:"at_least,omitempty"`
	Met   bool `json:"met"`
}

func most(name string, is, limit float64) Bar { return Bar{name, is, limit, false, is <= limit} }

func least(name string, is, limit float64) Bar { return Bar{name, is, limit, true, is >= limit} }

// Limits of issue 3.
const (
	largeSorts     = 10
	rowSorts       = 300
	tenfoldTime    = 4
	bytesPerPair   = 0.1 // of pods times nodes: nothing, but for noise
	equalNotAbove  = 0.99
	heuristicFound = 0.999
)

// bars judges what was measured.
func (r *Report) bars() []Bar {
	var bars []Bar
	if o := r.Optimality; o != nil {
		bars = append(bars,
			least("optimality: instances", float64(o.Instances), DefaultInstances),
			most("optimality: disagreements about feasibility", float64(o.Disagreements), 0),
			most("optimality: mean ratio", o.Mean, 1.005),
			most("optimality: p99 ratio", o.P99, 1.05),
			most("optimality: broken promises", float64(o.Broken), 0))
	}
	if o := r.Heuristic; o != nil {
		bars = append(bars,
			least("heuristic: instances", float64(o.Instances), DefaultInstances),
			least("heuristic: share of plans found", o.FoundShare, heuristicFound),
			most("heuristic: mean ratio", o.Mean, 1.02),
			most("heuristic: p99 ratio", o.P99, 1.15),
			most("heuristic: broken promises", float64(o.Broken), 0))
	}
	if c := r.Overall; c != nil {
		bars = append(bars,
			least("baselines: clusters", float64(c.Clusters), DefaultClusters),
			most("baselines: clusters without a plan", float64(c.NoPlan), 0),
			most("baselines: clusters where ours is above the best", float64(c.Worse), 0),
			least("baselines: busiest uplink not above at equal cost", c.BusiestNotAbove, equalNotAbove),
			most("baselines: broken promises", float64(len(c.Broken)), 0))
	}
	return append(bars, r.speedBars()...)
}

func (r *Report) speedBars() []Bar {
	var bars []Bar
	find := func(name string, nodes int, warm bool) *Speed {
		for i := range r.Speed {
			if s := &r.Speed[i]; s.Case == name && s.Nodes == nodes && s.Warm == warm {
				return s
			}
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		fleet scale
		limit float64
		warm  bool
	}{
		{caseServers, largeFleet, largeSorts, false}, {caseServers, largeFleet, largeSorts, true},
		{caseRing, largeFleet, largeSorts, false}, {caseRing, largeFleet, largeSorts, true},
		{caseRow, smallFleet, rowSorts, false}, {caseWideRow, smallFleet, rowSorts, false},
	} {
		one, ten := find(c.name, c.fleet.nodes, c.warm), find(c.name, c.fleet.nodes*tenfold, c.warm)
		if one == nil {
			continue
		}
		name := fmt.Sprintf("speed: %s (%s)", c.name, one.state())
		bars = append(bars, most(name+": sorts", one.Sorts, c.limit))
		if ten != nil {
			bars = append(bars, most(name+": time on 10 times the nodes", ten.LeastMS/one.LeastMS, tenfoldTime))
		}
	}
	for _, a := range r.Allocations {
		bars = append(bars, most("speed: "+a.Case+": bytes per pod and node", a.PerPair, bytesPerPair))
	}
	return bars
}

// showBars prints a table of them.
func showBars(bars []Bar, out io.Writer) {
	for _, b := range bars {
		sign, word := "<=", "met"
		if b.Least {
			sign = ">="
		}
		if !b.Met {
			word = "MISSED"
		}
		say(out, "%-6s  %-75s %12.5g %s %g\n", word, b.Name, b.Is, sign, b.Limit)
	}
}
