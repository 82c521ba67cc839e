// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
)

// liveMeasures are what is drawn of each turn.
var liveMeasures = []struct {
	title, unit, figure string
	more                bool
	of                  func(*live.Turn) float64
}{
	{"Pods bound", "pods per second, more is better", "pods bound", true, func(t *live.Turn) float64 { return t.Bound }},
	{"99 of 100 gangs are bound within", "seconds, less is better", "gang wait p99", false, func(t *live.Turn) float64 { return t.GangWait.P99 }},
	{"Racks that a gang is spread over", "mean over gangs, less is better", "racks of a gang", false, func(t *live.Turn) float64 { return t.Placement.Racks }},
}

// lived shows schedulers on a live control plane.
func lived(r *live.Report) *Section {
	s := &Section{
		Title:   "On a live control plane: how fast gangs are bound",
		About:   "Real etcd, kube-apiserver and Volcano over simulated nodes; all times are from the API server's audit log. Limits are clients that only write: A the bindings, B all that our scheduler writes.",
		Command: "make bench-live", Bars: r.Bars, Facts: machine(r.Machine),
	}
	s.fact("part of the cases measured last", "%g", r.Settings.Scale)
	s.fact("rounds of each case", "%s", rounds(r.Cases))
	s.fact("requests at a time of the limits", "%d", r.Settings.Concurrency)
	for _, m := range liveMeasures {
		drawn := Chart{Title: m.title, Unit: m.unit}
		for i := range r.Cases {
			c := &r.Cases[i]
			group := Group{Name: c.String()}
			for _, scheduler := range r.Settings.Schedulers {
				var values []float64
				for j := range c.Turns {
					if turn := &c.Turns[j]; turn.Scheduler == scheduler && m.of(turn) > 0 {
						values = append(values, m.of(turn))
					}
				}
				if len(values) > 0 {
					group.Rows = append(group.Rows, Row{Name: scheduler, Kind: kindOf(scheduler), Values: values})
					s.figure(fmt.Sprintf("%s, %s, %s", m.figure, c, scheduler), "", m.more, values...)
				}
			}
			drawn.Groups = append(drawn.Groups, group)
		}
		s.chart(drawn)
	}
	s.used(r)
	s.profiled(r)
	s.prompt(r)
	return s
}

// onKind shows the same on a cluster of kind's.
func onKind(r *live.Report) *Section {
	s := lived(r)
	s.Title = "On a cluster of kind's: how fast gangs are bound"
	s.About = "The same load and the same times, but on Kubernetes as kind makes it, with Volcano from its own manifests, our images, and simulated nodes."
	s.Command = "make kind-up kind-bench"
	return s
}

// used draws who used the processors in the last round of each case.
func (s *Section) used(r *live.Report) {
	drawn := Chart{Title: "Who used the processors", Unit: "seconds of one processor in a turn, medians"}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, scheduler := range []string{live.Stock, live.Paddle} {
			used := map[string][]float64{}
			for j := range c.Turns {
				if turn := &c.Turns[j]; turn.Scheduler == scheduler {
					for name, process := range turn.Processes {
						used[name] = append(used[name], process.CPU)
					}
				}
			}
			group := Group{Name: fmt.Sprintf("%s: %s", c, scheduler)}
			for _, name := range slices.Sorted(maps.Keys(used)) {
				group.Rows = append(group.Rows, Row{Name: name, Kind: kindOf(scheduler), Values: used[name]})
			}
			drawn.Groups = append(drawn.Groups, group)
		}
	}
	s.chart(drawn)
}

// profiled draws where schedulers spend their time.
func (s *Section) profiled(r *live.Report) {
	drawn := Chart{Title: "Where schedulers spend their time", Unit: "% of the processor time of a turn, by whose function it is"}
	for i := range r.Cases {
		c := &r.Cases[i]
		for _, scheduler := range slices.Sorted(maps.Keys(c.Profiles)) {
			group := Group{Name: fmt.Sprintf("%s: %s", c, scheduler)}
			for _, share := range c.Profiles[scheduler] {
				group.Rows = append(group.Rows, Row{Name: share.Owner, Kind: kindOf(scheduler), Values: []float64{share.Percent}})
			}
			drawn.Groups = append(drawn.Groups, group)
		}
	}
	s.chart(drawn)
}

// prompt draws how soon a gang that waits is bound.
func (s *Section) prompt(r *live.Report) {
	drawn := Chart{Title: "How soon a gang is bound once it fits", Unit: "seconds until its last pod is bound, less is better"}
	for i := range r.Prompt {
		p := &r.Prompt[i]
		name := fmt.Sprintf("%d nodes, %d pods pending, %s", p.Nodes, p.Pending, p.Scheduler)
		drawn.Groups = append(drawn.Groups, Group{Name: name, Rows: []Row{
			{Name: "median", Kind: kindOf(p.Scheduler), Values: []float64{p.Wait.P50}},
			{Name: "p99", Kind: kindOf(p.Scheduler), Values: []float64{p.Wait.P99}},
		}})
		s.figure("bound once it fits, "+name, "s", false, p.Waits...)
	}
	s.chart(drawn)
}

// rounds are the numbers of rounds that cases had, least first.
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
