// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/peers"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
	"github.com/paddle-volcano/paddle-volcano/test/session"
	"github.com/paddle-volcano/paddle-volcano/test/soak"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// liveMeasures are shown of each turn.
var liveMeasures = []struct {
	name, unit string
	more       bool
	of         func(*live.Turn) float64
}{
	{"pods bound", "pods per second", true, func(t *live.Turn) float64 { return t.Bound }},
	{"pods bound, without the time in which the cluster was read", "pods per second", true, func(t *live.Turn) float64 {
		if t.Read == 0 { // it was not measured apart
			return 0
		}
		return t.BoundAfter
	}},
	{"pods created", "pods per second", true, func(t *live.Turn) float64 { return t.Created }},
	{"pods running", "pods per second", true, func(t *live.Turn) float64 { return t.Running }},
	{"half of the gangs are bound within", "s", false, func(t *live.Turn) float64 { return t.GangWait.P50 }},
	{"99 of 100 gangs are bound within", "s", false, func(t *live.Turn) float64 { return t.GangWait.P99 }},
}

// lived shows schedulers on a live control plane.
func lived(r *live.Report) *Section {
	s := &Section{
		Title:   "On a live control plane: how fast gangs are bound",
		About:   "Real etcd, kube-apiserver and Volcano over simulated nodes; all times are from the API server's audit log. The limit is a client that makes the bindings of our scheduler again, and nothing else.",
		Command: "make bench-live", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("part of the cases measured last", "%g", r.Settings.Scale)
	s.fact("rounds of each case", "%s", rounds(r.Cases))
	if slices.Contains(r.Settings.Schedulers, live.Limit) {
		s.fact("requests at a time of the limit", "%d", r.Settings.Concurrency)
	}
	for _, m := range liveMeasures {
		for i := range r.Cases {
			c := &r.Cases[i]
			for _, scheduler := range r.Settings.Schedulers {
				var values []float64
				for j := range c.Turns {
					if turn := &c.Turns[j]; turn.Scheduler == scheduler && m.of(turn) > 0 {
						values = append(values, m.of(turn))
					}
				}
				s.figure(fmt.Sprintf("%s, %s, %s", m.name, c, scheduler), m.unit, m.more, values...)
			}
		}
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, who := range slices.Sorted(maps.Keys(c.Ratios)) {
			by := c.Ratios[who]
			s.figure(fmt.Sprintf("pods bound by those of %s in the same round, %s", who, c), "×", true, by.Least, by.Median, by.Most)
		}
		for _, who := range slices.Sorted(maps.Keys(c.Processor)) {
			used := c.Processor[who]
			s.figure(fmt.Sprintf("processor time of %s and the API server for 1,000 pods, %s", who, c), "s", false, used.Least, used.Median, used.Most)
		}
	}
	s.used(r)
	s.prompt(r)
	s.churn(r)
	return s
}

// onKind shows the same on a cluster of kind's.
func onKind(r *live.Report) *Section {
	s := lived(r)
	s.Title = "On a cluster of kind's: how fast gangs are bound"
	s.About = "The same load and the same times, but on Kubernetes as kind makes it, with Volcano from its own manifests, the images of this project, and simulated nodes."
	s.Command = "make kind-up kind-bench"
	return s
}

// used adds the processor time and the peak memory of each process.
func (s *Section) used(r *live.Report) {
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, scheduler := range []string{live.Stock, live.Paddle} {
			used, peaks := map[string][]float64{}, map[string][]float64{}
			for j := range c.Turns {
				if turn := &c.Turns[j]; turn.Scheduler == scheduler {
					for name, process := range turn.Processes {
						used[name], peaks[name] = append(used[name], process.CPU), append(peaks[name], process.Peak)
					}
				}
			}
			for _, name := range slices.Sorted(maps.Keys(used)) {
				s.figure(fmt.Sprintf("processor time of %s, %s, %s", name, c, scheduler), "s", false, used[name]...)
				s.figure(fmt.Sprintf("peak memory of %s, %s, %s", name, c, scheduler), "MiB", false, peaks[name]...)
			}
		}
	}
}

// prompt shows how soon a pending gang is bound once it fits.
func (s *Section) prompt(r *live.Report) {
	for i := range r.Prompt {
		p := &r.Prompt[i]
		s.figure(fmt.Sprintf("bound once it fits, %d nodes, %d pods pending, %s", p.Nodes, p.Pending, p.Scheduler), "s", false, p.Waits...)
	}
}

// peerMeasures are shown of each turn of one way.
var peerMeasures = []struct {
	name, unit string
	more       bool
	way        string
	of         func(*peers.Turn) float64
}{
	{"pods bound from end to end", "pods per second", true, peers.EndToEnd, func(t *peers.Turn) float64 { return t.Bound }},
	{"pods bound by the scheduler alone", "pods per second", true, peers.Alone, func(t *peers.Turn) float64 { return t.Bound }},
	{"half of the gangs are partly bound for at most", "s", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.PartlyBound.P50 }},
	{"99 of 100 gangs are partly bound for at most", "s", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.PartlyBound.P99 }},
	{"gangs in one rack", "", true, peers.EndToEnd, func(t *peers.Turn) float64 { return float64(t.OneRack) }},
	{"bytes between nodes", "in a step", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.Crossing.Nodes }},
	{"bytes between racks", "in a step", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.Crossing.Racks }},
	{"bytes between blocks", "in a step", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.Crossing.Blocks }},
	{"bound pods of a gang that no rack holds", "", false, peers.EndToEnd, func(t *peers.Turn) float64 { return float64(t.Unfit) }},
	{"pods that were not bound", "", false, peers.EndToEnd, func(t *peers.Turn) float64 { return float64(t.Unbound) }},
	{"processor time", "s", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.CPU }},
	{"peak memory", "MiB", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.RSS }},
	{"writes", "per pod", false, peers.EndToEnd, func(t *peers.Turn) float64 { return t.Writes }},
}

// compared shows schedulers of other projects.
func compared(r *peers.Report) *Section {
	s := &Section{
		Title:   "Schedulers of other projects on Kubernetes " + r.Settings.Kubernetes + ": how fast and where they place gangs",
		About:   "Each scheduler has a new control plane in each turn, and places the same gangs on the same nodes. Each gang requires one rack, unless its scheduler knows no topology. All times are from the API server's audit log.",
		Command: "make bench-peers PEERS=--kubernetes=" + r.Settings.Kubernetes, Facts: machine(r.Machine),
	}
	for i := range r.Peers {
		s.fact(r.Peers[i].Scheduler+", "+r.Peers[i].Case, "%s", r.Peers[i].Version)
	}
	for _, m := range peerMeasures {
		for i := range r.Peers {
			p := &r.Peers[i]
			s.figure(fmt.Sprintf("%s, %s, %s", m.name, p.Case, p.Scheduler), m.unit, m.more, r.Values(p.Scheduler, p.Case, m.way, m.of)...)
		}
	}
	return s
}

// rounds returns the numbers of rounds that cases had, least first.
func rounds(cases []live.Case) string {
	had := map[int]bool{}
	for i := range cases {
		most := 0
		for j := range cases[i].Turns {
			most = max(most, cases[i].Turns[j].Round+1)
		}
		had[most] = true
	}
	var text []string
	for _, n := range slices.Sorted(maps.Keys(had)) {
		text = append(text, strconv.Itoa(n))
	}
	return strings.Join(text, ", ")
}

// controller shows what PaddleJobs cost compared with Volcano Jobs.
func controller(r *live.JobReport) *Section {
	s := &Section{
		Title:   "The controller: PaddleJobs and equal Volcano Jobs",
		About:   "A real control plane over simulated nodes: the time from the first create until every pod has an address and every job its environment. The API server's audit log has what the controller wrote until all were Completed.",
		Command: "make bench-controller", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("jobs", "%d of %d pods on %d nodes; workers run %g s", r.Jobs, r.Pods/max(r.Jobs, 1), r.Nodes, r.RunFor)
	times, rates := map[string][]float64{}, map[string][]float64{}
	writes, total := map[string][]float64{}, map[string][]float64{}
	timeline := map[string][]float64{} // by figure
	var rss []float64
	for i := range r.RoundsTaken {
		round := &r.RoundsTaken[i]
		times[round.Kind] = append(times[round.Kind], round.Ready)
		rates[round.Kind] = append(rates[round.Kind], float64(r.Pods)/round.AllRunning)
		all := 0
		for _, n := range round.Requests {
			all += n
		}
		total[round.Kind] = append(total[round.Kind], float64(all)/float64(r.Jobs))
		for write, n := range round.Writes {
			writes[write] = append(writes[write], float64(n)/float64(r.Jobs))
		}
		if round.RSS > 0 {
			rss = append(rss, round.RSS)
		}
		for _, stage := range round.Timeline {
			half, last := stage.What+", half of them: "+round.Kind, stage.What+", the last: "+round.Kind
			timeline[half], timeline[last] = append(timeline[half], stage.P50), append(timeline[last], stage.Last)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(times)) {
		s.figure("from create to all peers known: "+kind, "s", false, times[kind]...)
		s.figure("end to end, until Running: "+kind, "pods/s", true, rates[kind]...)
		s.figure("everybody's writes until then: "+kind, "per job", false, total[kind]...)
	}
	for _, name := range slices.Sorted(maps.Keys(timeline)) {
		s.figure(name, "s after the first create", false, timeline[name]...)
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

// session shows the plugin inside Volcano's sessions.
func inSessions(r *session.Report) *Section {
	s := &Section{
		Title:   "Inside the scheduler: how long a session takes, how good it places",
		About:   "Whole sessions of Volcano's own scheduler in one process, with the stock plugins and with the plugin paddle, on the same clusters and jobs.",
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
	for i := range r.Scale {
		row := &r.Scale[i]
		name := fmt.Sprintf("%d nodes, %d pods in gangs of %d, %s", row.Nodes, row.Pods, row.Gang, row.Mode)
		s.figure("whole session, "+name, "s", false, row.Sessions...)
		s.figure("pods placed, "+name, "per second of allocate", true, row.Rate)
		s.figure("memory, "+name, "MiB", false, row.Memory)
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

// placement shows the planner alone.
func placement(r *bench.Report) *Section {
	s := &Section{
		Title:   "The planner: how near to the optimum, how fast",
		About:   "The pure planner without a scheduler: against brute force on small instances, against other ways to place on loaded clusters, and against the clock.",
		Command: fmt.Sprintf("make bench-placement SEED=%d", r.Seed), Bars: r.Bars,
		Facts: machine(r.Machine),
	}
	s.fact("seed", "%d", r.Seed)
	if r.Optimality != nil {
		s.fact("small instances", "%d, of which %d have a plan", r.Optimality.Instances, r.Optimality.Feasible)
		s.figure("mean cost by the optimum", "×", false, r.Optimality.Mean)
		s.figure("plans as cheap as the optimum", "share", true, r.Optimality.ExactShare)
	}
	for i := range r.Baselines {
		b := &r.Baselines[i]
		s.figure("cost by ours, "+b.Name, "×", true, b.CostRatio)
	}
	for i := range r.Speed {
		row := &r.Speed[i]
		name := fmt.Sprintf("%s on %d nodes", row.Case, row.Nodes)
		if row.Warm {
			name += ", again"
		}
		s.figure(name, "ms", false, row.MS)
	}
	return s
}

// traceMeasures are shown of each run.
var traceMeasures = []struct {
	name, unit string
	scale      float64
	more       bool
	of         func(*trace.Run) float64
}{
	{"completion time of all jobs, mean", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.JCTMean }},
	{"completion time of gangs (jobs of several pods), mean over jobs", "h", 1 / 3600.0, false, func(r *trace.Run) float64 { return r.GangJCTMean }},
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
		About:   "Jobs of a public trace in virtual time around Volcano's own scheduler; a simulation of all running jobs' flows over NICs and uplinks says how long their steps take.",
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
		s.figure(fmt.Sprintf("%s by the plugin, load %g, %s by %s", c.Measure, c.Load, c.Baseline, c.Plugin), "×", true, c.Ratios...)
	}
	return s
}

// soaked shows what was left after each round of random jobs.
func soaked(r *soak.Report) *Section {
	s := &Section{
		Title:   "The soak: nothing is left over, nothing grows",
		About:   "Random jobs are made, deleted, suspended, scaled and killed on a real control plane; after each round everything is deleted and the programs are measured.",
		Command: "make soak", Bars: []bars.Bar{bars.Most("soak: what was not as it should be", float64(len(r.Broken)), 0)},
	}
	s.fact("seed", "%d", r.Seed)
	s.fact("time", "%.0f s in %d rounds", r.Seconds, len(r.Rounds))
	s.fact("jobs", "%d", r.Made)
	for _, operation := range slices.Sorted(maps.Keys(r.Operations)) {
		s.fact(operation, "%d times", r.Operations[operation])
	}
	heaps, goroutines := map[string][]float64{}, map[string][]float64{}
	for i := range r.Rounds {
		for name, size := range r.Rounds[i].Sizes {
			heaps[name], goroutines[name] = append(heaps[name], size.Heap), append(goroutines[name], float64(size.Goroutines))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(heaps)) {
		s.halves(name+": heap when nothing is left", "MiB", heaps[name])
	}
	for _, name := range slices.Sorted(maps.Keys(goroutines)) {
		s.halves(name+": goroutines when nothing is left", "", goroutines[name])
	}
	return s
}
