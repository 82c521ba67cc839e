// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/jobs"
	"github.com/paddle-volcano/paddle-volcano/test/chart"
)

// controller shows what PaddleJobs cost beside raw Volcano Jobs.
func controller(r *jobs.Report) *Section {
	s := &Section{
		Title:   "The controller: PaddleJobs beside equal Volcano Jobs",
		About:   "A real control plane over simulated nodes: from the first create until every pod has an address and every job its environment, and what the controller wrote until all were Completed, from the API server's audit log.",
		Command: "make bench-controller", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("jobs", "%d of %d pods on %d nodes; workers run %g s", r.Jobs, r.Pods/max(r.Jobs, 1), r.Nodes, r.RunFor)
	times := map[string][]float64{}
	writes := map[string][]float64{}
	var rss []float64
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		times[round.Kind] = append(times[round.Kind], round.Ready)
		for write, n := range round.Writes {
			writes[write] = append(writes[write], float64(n)/float64(r.Jobs))
		}
		if round.RSS > 0 {
			rss = append(rss, round.RSS)
		}
	}
	ready := chart.Bars{Title: "From create to all peers known", Unit: "seconds, less is better"}
	group := chart.Group{}
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		colour := chart.Stock
		if kind == "PaddleJob" {
			colour = chart.Ours
		}
		group.Bars = append(group.Bars, chart.Bar{Name: kind, Kind: colour, Values: times[kind]})
		s.figure(kind+"s ready", "s", false, times[kind]...)
	}
	ready.Groups = append(ready.Groups, group)
	wrote := chart.Bars{Title: "What the controller writes", Unit: "requests per job until it is Completed, Events apart"}
	group = chart.Group{}
	for _, write := range slices.Sorted(maps.Keys(writes)) {
		group.Bars = append(group.Bars, chart.Bar{Name: write, Kind: chart.Ours, Values: writes[write]})
	}
	wrote.Groups = append(wrote.Groups, group)
	s.Charts = append(s.Charts, ready.SVG(), wrote.SVG())
	s.figure("controller's memory", "MiB", false, rss...)
	s.figure("writes per job", fmt.Sprintf("of %d jobs", r.Jobs), false, r.Writes)
	s.figure("Events per job", fmt.Sprintf("of %d jobs", r.Jobs), false, r.Events)
	return s
}
