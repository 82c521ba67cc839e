// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/profile"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Case is what is submitted to which cluster, and what came of it. Figures are medians over the rounds; one that was not
// measured is null.
type Case struct {
	Nodes int    `json:"nodes"`
	Pods  int    `json:"pods"`
	Gang  int    `json:"gang"`
	Form  string `json:"form"`
	Gangs int    `json:"gangs"`
	// Asked is what it was scaled from.
	Asked string `json:"asked"`

	StockPods  *float64 `json:"stock_pods_s"`
	PaddlePods *float64 `json:"paddle_pods_s"`
	KubePods   *float64 `json:"kube_scheduler_pods_s"`
	LimitAPods *float64 `json:"limit_a_pods_s"`
	LimitBPods *float64 `json:"limit_b_pods_s"`
	// GangWait is by scheduler.
	GangWait map[string]float64 `json:"gang_wait_p99_s"`
	// Spread is the least and the greatest rate of the rounds, by scheduler.
	Spread map[string][2]float64 `json:"spread_pods_s"`

	Turns    []Turn                     `json:"rounds"`
	Profiles map[string][]profile.Share `json:"profiles,omitempty"`
}

func (c Case) String() string {
	return fmt.Sprintf("%d nodes, %dx%d as %s", c.Nodes, c.Gangs, c.Gang, c.Form)
}

// load is what is submitted for one binder.
func (c Case) load(who string, series int) load.Load {
	return load.Load{Form: c.Form, Gangs: c.Gangs, Gang: c.Gang, Scheduler: binders[who].pods, Series: series}
}

// of is one figure of a scheduler in all rounds.
func (c *Case) of(who string, figure func(*Turn) float64) []float64 {
	var values []float64
	for i := range c.Turns {
		if c.Turns[i].Scheduler == who {
			values = append(values, figure(&c.Turns[i]))
		}
	}
	return values
}

func rate(t *Turn) float64    { return t.Bound }
func after(t *Turn) float64   { return t.BoundAfter }
func wait50(t *Turn) float64  { return t.GangWait.P50 }
func wait99(t *Turn) float64  { return t.GangWait.P99 }
func created(t *Turn) float64 { return t.Created }
func running(t *Turn) float64 { return t.Running }

// sum fills in what the turns come to.
func (c *Case) sum() {
	c.GangWait, c.Spread = map[string]float64{}, map[string][2]float64{}
	for who, into := range map[string]**float64{
		Stock: &c.StockPods, Paddle: &c.PaddlePods, KubeScheduler: &c.KubePods, LimitA: &c.LimitAPods, LimitB: &c.LimitBPods,
	} {
		rates := c.of(who, rate)
		if len(rates) == 0 {
			continue
		}
		median := stats.Median(rates)
		*into = &median
		c.Spread[who] = [2]float64{slices.Min(rates), slices.Max(rates)}
		if who == Stock || who == Paddle {
			c.GangWait[who] = stats.Median(c.of(who, wait99))
		}
	}
}
