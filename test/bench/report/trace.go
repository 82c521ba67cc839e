// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
)

// traceMeasures are what is drawn of a trace.
var traceMeasures = []struct {
	title, unit, figure string
	scale               float64
	of                  func(*trace.Run) float64
}{
	{"Completion time of jobs of 2 or more GPUs", "hours, mean over jobs, less is better", "gang JCT", 1 / 3600.0, func(r *trace.Run) float64 { return r.GangJCTMean }},
	{"The slowest 5 % of them begin at", "hours, less is better", "gang JCT p95", 1 / 3600.0, func(r *trace.Run) float64 { return r.GangJCTP95 }},
	{"Bytes over borders of nodes, racks and blocks", "less is better", "crossing bytes", 1, func(r *trace.Run) float64 { return r.Crossing }},
	{"99 of 100 gangs wait at most", "hours, less is better", "gang wait p99", 1 / 3600.0, func(r *trace.Run) float64 { return r.GangWaitP99 }},
	{"GPUs that compute", "share of all, more is better", "GPUs that compute", 1, func(r *trace.Run) float64 { return r.GPUComputing }},
}

// traced shows what placement does to jobs of a public trace.
func traced(r *trace.Report) *Section {
	s := &Section{
		Title:   "The trace: what placement does to job completion times",
		About:   "Jobs of a public trace in virtual time around Volcano's own scheduler; a step takes its compute and its busiest link's time, with the traffic of all running jobs. Lines on bars go from the least to the greatest of the seeds.",
		Command: "make bench-trace", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("cluster", "%s", r.Cluster)
	s.fact("jobs measured in a run", "%d", r.Settings.Jobs)
	s.fact("loads", "%s", joined(r.Settings.Loads))
	s.fact("seeds", "%s", joined(r.Settings.Seeds))
	s.fact("durations capped at", "%g s", r.Settings.Cap)
	s.fact("uplinks of nodes, racks, blocks", "%v Gbps", r.Settings.Gbps)
	if r.Unplayed > 0 {
		s.fact("not played yet", "%d runs", r.Unplayed)
	}
	for _, m := range traceMeasures {
		drawn := Chart{Title: m.title, Unit: m.unit}
		for _, load := range r.Settings.Loads {
			group := Group{Name: fmt.Sprintf("load %g", load)}
			for _, scheduler := range r.Settings.Schedulers {
				var values []float64
				for i := range r.Runs {
					if run := &r.Runs[i]; run.Load == load && run.Scheduler == scheduler {
						values = append(values, m.of(run)*m.scale)
					}
				}
				if len(values) == 0 {
					continue
				}
				group.Rows = append(group.Rows, Row{Name: scheduler, Kind: kindOf(scheduler), Values: values})
				s.figure(fmt.Sprintf("%s, load %g, %s", m.figure, load, scheduler), "", m.figure == "GPUs that compute", values...)
			}
			drawn.Groups = append(drawn.Groups, group)
		}
		s.chart(drawn)
	}
	return s
}

// kindOf gives set-ups their colours.
func kindOf(scheduler string) string {
	switch {
	case scheduler == "stock":
		return kindStock
	case strings.HasSuffix(scheduler, "busiest"):
		return kindOurs2
	case strings.HasPrefix(scheduler, "paddle"):
		return kindOurs
	case strings.HasPrefix(scheduler, "limit"):
		return kindLimit
	case strings.HasPrefix(scheduler, "kube"):
		return kindFloor
	}
	return kindOther
}
