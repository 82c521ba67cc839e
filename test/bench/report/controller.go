// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
)

// controller shows what PaddleJobs cost beside raw Volcano Jobs.
func controller(r *live.JobReport) *Section {
	s := &Section{
		Title:   "The controller: PaddleJobs beside equal Volcano Jobs",
		About:   "A real control plane over simulated nodes: from the first create until every pod has an address and every job its environment, and what the controller wrote until all were Completed, from the API server's audit log.",
		Command: "make bench-controller", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("jobs", "%d of %d pods on %d nodes; workers run %g s", r.Jobs, r.Pods/max(r.Jobs, 1), r.Nodes, r.RunFor)
	times := map[string][]float64{}
	writes, everybody := map[string][]float64{}, map[string][]float64{}
	var rss []float64
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		times[round.Kind] = append(times[round.Kind], round.Ready)
		all := 0
		for _, n := range round.Requests {
			all += n
		}
		everybody[round.Kind] = append(everybody[round.Kind], float64(all)/float64(r.Jobs))
		for write, n := range round.Writes {
			writes[write] = append(writes[write], float64(n)/float64(r.Jobs))
		}
		if round.RSS > 0 {
			rss = append(rss, round.RSS)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		s.figure("from create to all peers known: "+kind, "s", false, times[kind]...)
		s.figure("everybody's writes until then: "+kind, "per job", false, everybody[kind]...)
	}
	s.figure("time of PaddleJobs by that of Volcano Jobs without a start barrier", "×", false, r.BareRatio)
	used := r.ProcessorSeconds()
	for _, process := range slices.Sorted(maps.Keys(used)) {
		for _, kind := range slices.Sorted(maps.Keys(used[process])) {
			s.figure("processor time of "+process+" until then: "+kind, "s", false, used[process][kind]...)
		}
	}
	for _, write := range slices.Sorted(maps.Keys(writes)) {
		s.figure("controller's requests: "+write, "per job", false, writes[write]...)
	}
	s.figure("controller's memory", "MiB", false, rss...)
	s.figure("writes per job", fmt.Sprintf("of %d jobs", r.Jobs), false, r.Writes)
	s.figure("Events per job", fmt.Sprintf("of %d jobs", r.Jobs), false, r.Events)
	return s
}
