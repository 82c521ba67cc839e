// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
)

// Limits of `make bench-placement`.
const (
	largeSorts    = 10
	rowSorts      = 300
	wideRowSorts  = 1000 // one for each job: what ranking the nodes once for a job takes
	tenfoldTime   = 4
	bytesPerPair  = 0.1 // of pods times nodes: nothing, but for noise
	equalNotAbove = 0.99
)

// bars judges what was measured.
func (r *Report) bars() []bars.Bar {
	var all []bars.Bar
	if o := r.Optimality; o != nil {
		all = append(all,
			bars.Whole("optimality: instances", float64(o.Instances), DefaultInstances),
			bars.Most("optimality: disagreements about feasibility", float64(o.Missed), 0),
			bars.Most("optimality: mean ratio", o.Mean, 1.005),
			bars.Most("optimality: p99 ratio", o.P99, 1.05),
			bars.Most("optimality: broken promises", float64(o.Broken), 0))
	}
	if c := r.Overall; c != nil {
		all = append(all,
			bars.Whole("baselines: clusters", float64(c.Clusters), DefaultClusters),
			bars.Most("baselines: clusters without a plan", float64(c.NoPlan), 0),
			bars.Most("baselines: clusters where ours is above the best", float64(c.Worse), 0),
			bars.Least("baselines: busiest uplink not above at equal cost", c.BusiestNotAbove, equalNotAbove),
			bars.Most("baselines: broken promises", float64(len(c.Broken)), 0))
	}
	if r.Hybrid != nil {
		all = append(all, r.Hybrid.bars()...)
	}
	return append(all, r.speedBars()...)
}

func (r *Report) speedBars() []bars.Bar {
	var all []bars.Bar
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
		{caseRow, smallFleet, rowSorts, false}, {caseWideRow, smallFleet, wideRowSorts, false},
	} {
		one, ten := find(c.name, c.fleet.nodes, c.warm), find(c.name, c.fleet.nodes*tenfold, c.warm)
		if one == nil {
			continue
		}
		name := fmt.Sprintf("speed: %s (%s)", c.name, map[bool]string{false: "cold", true: "warm"}[c.warm])
		all = append(all, bars.Most(name+": sorts", one.Sorts, c.limit))
		if ten != nil {
			all = append(all, bars.Most(name+": time on 10 times the nodes", ten.LeastMS/one.LeastMS, tenfoldTime))
		}
	}
	for _, a := range r.Allocations {
		all = append(all, bars.Most("speed: "+a.Case+": bytes per pod and node", a.PerPair, bytesPerPair))
	}
	return all
}
