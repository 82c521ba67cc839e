// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
)

// traceMeasures are shown of each run.
var traceMeasures = []struct {
	name, unit string
	scale      float64
	more       bool
	of         func(*trace.Run) float64
}{
	{"completion time of all jobs, mean", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.JCTMean }},
	{"completion time of jobs of 2 or more GPUs, mean over jobs", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.GangJCTMean }},
	{"the slowest 5 % of them begin at", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.GangJCTP95 }},
	{"their time from start to end by that on one host, mean", "×", 1, false, func(r *trace.Run) float64 { return r.GangSlowdown }},
	{"bytes over borders of nodes, racks and blocks", "", 1, false, func(r *trace.Run) float64 { return r.Crossing }},
	{"99 of 100 gangs wait at most", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.GangWaitP99 }},
	{"a gang waits, mean", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.GangWaitMean }},
	{"load with the durations that jobs really had", "", 1, false, func(r *trace.Run) float64 { return r.LoadHeld }},
	{"share of all GPUs that compute", "", 1, true, func(r *trace.Run) float64 { return r.GPUComputing }},
}

// traced shows what placement does to jobs of a public trace.
func traced(r *trace.Report) *Section {
	s := &Section{
		Title:   "The trace: what placement does to job completion times",
		About:   "Jobs of a public trace in virtual time around Volcano's own scheduler; a step takes its compute and its busiest link's time, with the traffic of all running jobs.",
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
		for _, load := range r.Settings.Loads {
			for _, scheduler := range r.Settings.Schedulers {
				var values []float64
				for i := range r.Runs {
					if run := &r.Runs[i]; run.Load == load && run.Scheduler == scheduler {
						values = append(values, m.of(run)*m.scale)
					}
				}
				s.figure(fmt.Sprintf("%s, load %g, %s", m.name, load, scheduler), m.unit, m.more, values...)
			}
		}
	}
	for _, c := range r.Compared {
		s.figure(fmt.Sprintf("%s by ours, load %g, %s by %s", c.Measure, c.Load, c.Baseline, c.Ours), "×", true, c.Ratios...)
	}
	return s
}
