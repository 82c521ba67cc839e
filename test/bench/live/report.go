// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// Bars of `make bench-live`, and the case that they are for.
const (
	stockBar  = 10
	tunedBar  = 5
	limitBar  = 0.75
	barNodes  = 5000
	barGang   = 20
	barOfForm = load.PodGroups
	// Of fewer pods the scheduler's start decides; fewer rounds do not bound a median; of fewer waits the greatest is the 99th percentile.
	barPods   = 4000
	barRounds = 7
	barWaits  = 100
)

// promptBars are the seconds until a gang that fits is bound, at the 99th percentile, by the number of nodes.
var promptBars = map[int]float64{500: 0.3, 5000: 1.2}

// Report is what live.json holds.
type Report struct {
	Machine  result.Machine `json:"machine"`
	Settings Settings       `json:"settings"`
	Cases    []Case         `json:"cases"`
	Prompt   []Prompt       `json:"prompt"`
	Churn    []Churn        `json:"churn"`
	Bars     []bars.Bar     `json:"bars"`
}

const file = "live.json"

func newReport(s Settings) *Report { return &Report{Machine: result.ThisMachine(), Settings: s} }

func (r *Report) add(c Case) {
	c.sum()
	r.Cases = append(r.Cases, c)
	r.Bars = append(r.Bars, c.judge()...)
}

func (r *Report) addPrompt(p Prompt) {
	r.Prompt = append(r.Prompt, p)
	r.Bars = append(r.Bars, p.judge()...)
}

func (p *Prompt) judge() []bars.Bar {
	if p.Scheduler != Paddle {
		return nil
	}
	most, ok := promptBars[p.Nodes]
	if !ok {
		return nil
	}
	name := fmt.Sprintf("live: %d nodes, %d pods pending: seconds until a gang that fits is bound, p99", p.Nodes, p.Pending)
	return bars.OfSlice(len(p.Waits) >= barWaits, bars.Most(name, times.WaitOf(p.Waits).P99, most))
}

// judge compares with what was asked for. The scheduler's start and its reading of the cluster are in its rate, and not in
// the limit's.
func (c *Case) judge() []bars.Bar {
	if c.Nodes != barNodes || c.Gang != barGang || c.Form != barOfForm {
		return nil
	}
	var judged []bars.Bar
	name := fmt.Sprintf("live: %d nodes, %d pods in gangs of %d, scheduler alone: pods bound per second by those of ", c.Nodes, c.Pods, c.Gang)
	rounds := 0
	for _, bar := range []struct {
		who   string
		least float64
	}{{Stock, stockBar}, {Tuned, tunedBar}, {Limit, limitBar}} {
		if by, ok := c.Ratios[bar.who]; ok {
			judged = append(judged, bars.Least(name+bar.who, by.Median, bar.least))
		}
	}
	for i := range c.Turns {
		rounds = max(rounds, c.Turns[i].Round+1)
	}
	return bars.OfSlice(c.Pods >= barPods && rounds >= barRounds, judged...)
}

func (r *Report) write() error { return result.Write(r.Settings.Folder, file, r) }

// Tell sums up cases whose turns another program took, and writes live.json.
func Tell(s Settings, cases []Case) error {
	r := newReport(s)
	for _, c := range cases {
		r.add(c)
	}
	return r.write()
}
