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

// liveMeasures are shown of each turn.
var liveMeasures = []struct {
	name, unit string
	more       bool
	of         func(*live.Turn) float64
}{
	{"pods bound", "pods per second", true, func(t *live.Turn) float64 { return t.Bound }},
	{"pods bound, without the time in which the cluster was read", "pods per second", true, func(t *live.Turn) float64 { return t.BoundAfter }},
	{"pods created", "pods per second", true, func(t *live.Turn) float64 { return t.Created }},
	{"pods running", "pods per second", true, func(t *live.Turn) float64 { return t.Running }},
	{"half of the gangs are bound within", "s", false, func(t *live.Turn) float64 { return t.GangWait.P50 }},
	{"99 of 100 gangs are bound within", "s", false, func(t *live.Turn) float64 { return t.GangWait.P99 }},
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
		if ours, stock := c.Rates[live.Paddle], c.Rates[live.Stock]; ours > 0 && stock > 0 {
			s.figure(fmt.Sprintf("pods bound by stock's, %s", c), "×", true, ours/stock)
		}
	}
	s.used(r)
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
