// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Case is what is submitted to which cluster, and what came of it.
type Case struct {
	Nodes int    `json:"nodes"`
	Pods  int    `json:"pods"`
	Gang  int    `json:"gang"`
	Form  string `json:"form"`
	Gangs int    `json:"gangs"`
	// Asked is what it was scaled from.
	Asked string `json:"asked"`

	// Rates are the medians of the pods bound per second, by scheduler.
	Rates map[string]float64 `json:"median_pods_s"`

	Turns []Turn `json:"rounds"`
}

func (c Case) String() string {
	return fmt.Sprintf("%d nodes, %dx%d as %s", c.Nodes, c.Gangs, c.Gang, c.Form)
}

// load is what is submitted for one binder.
func (c Case) load(who string, series int) load.Load {
	return load.Load{Form: c.Form, Gangs: c.Gangs, Gang: c.Gang, Scheduler: binders[who].pods, Series: series}
}

// sum fills in what the turns come to.
func (c *Case) sum() {
	rates := map[string][]float64{}
	for i := range c.Turns {
		t := &c.Turns[i]
		rates[t.Scheduler] = append(rates[t.Scheduler], t.Bound)
	}
	c.Rates = map[string]float64{}
	for who, all := range rates {
		c.Rates[who] = stats.Median(all)
	}
}
