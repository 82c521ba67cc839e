// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
)

// Bars of `make bench-live`, and the case that they are for.
const (
	stockBar  = 6
	limitBar  = 0.75
	promptBar = 2
	barNodes  = 5000
	barGang   = 20
	barOfForm = load.PodGroups
	// Of fewer pods the scheduler's start decides, and of fewer waits the greatest is the 99th percentile.
	barPods  = 4000
	barWaits = 100
)

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
	name := fmt.Sprintf("live: %d nodes, %d pods pending: sessions until a gang that fits is bound, ", p.Nodes, p.Pending)
	return bars.OfSlice(len(p.Waits) >= barWaits, bars.Most(name+"median", p.Sessions.P50, promptBar), bars.Most(name+"p99", p.Sessions.P99, promptBar))
}

// judge compares with what was asked for. The scheduler's start and its reading of the cluster are in its rate, and not in
// the limit's.
func (c *Case) judge() []bars.Bar {
	paddle := c.Rates[Paddle]
	if c.Nodes != barNodes || c.Gang != barGang || c.Form != barOfForm || paddle == 0 {
		return nil
	}
	var judged []bars.Bar
	name := fmt.Sprintf("live: %d nodes, %d pods in gangs of %d, scheduler alone: pods bound per second by ", c.Nodes, c.Pods, c.Gang)
	if stock := c.Rates[Stock]; stock > 0 {
		judged = append(judged, bars.Least(name+"stock's", paddle/stock, stockBar))
	}
	if limit := c.Rates[Limit]; limit > 0 {
		judged = append(judged, bars.Least(name+"the limit's", paddle/limit, limitBar))
	}
	return bars.OfSlice(c.Pods >= barPods, judged...)
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
