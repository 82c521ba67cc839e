// SPDX-License-Identifier: Apache-2.0

package speed

import (
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Overhead is what the plugin costs sessions in which no job is Paddle's, in percent of the time without it.
type Overhead struct {
	Nodes int `json:"nodes"`
	Pods  int `json:"pods"`
	Gang  int `json:"gang"`
	Pairs int `json:"pairs"`
	// Session is the whole of it, from opening to closing; Allocate is Execute of that action alone.
	Session  Compared `json:"session"`
	Allocate Compared `json:"allocate"`
	// Bound pods of both, over all pairs.
	StockBound  int `json:"stock_bound"`
	PaddleBound int `json:"paddle_bound"`
}

// Compared is the cost of one thing measured in pairs.
type Compared struct {
	// Percent is the median over the pairs of (with the plugin / without - 1) * 100.
	Percent float64 `json:"percent"`
	// Low and High hold the true median with a probability of at least Level, by order statistics.
	Low   float64 `json:"low_percent"`
	High  float64 `json:"high_percent"`
	Level float64 `json:"level"`
	// Medians of the times themselves, in seconds.
	Stock  float64 `json:"stock_s"`
	Paddle float64 `json:"paddle_s"`
}

// level of the bounds.
const level = 0.95

// MeasureOverhead runs pairs of sessions, with the plugin and without, that differ in nothing else. Each pair's order is
// the reverse of the one before. Before the session that is measured each scheduler runs one without jobs: what the
// plugin keeps from session to session is there then, as it is in a scheduler that runs.
func MeasureOverhead(s Settings, progress io.Writer) (*Overhead, error) {
	return others().overhead(s, progress)
}

func (c Case) overhead(s Settings, progress io.Writer) (*Overhead, error) {
	o := &Overhead{Nodes: c.Nodes, Pods: c.Pods, Gang: c.Gang, Pairs: s.Pairs}
	var whole, allocate [2][]float64
	setups := [2]cluster.Setup{cluster.Stock(), cluster.Paddle(nil)}
	bound := [2]*int{&o.StockBound, &o.PaddleBound}
	for pair := range s.Pairs {
		for turn := range setups {
			which := (pair + turn) % len(setups)
			r, err := c.warm(setups[which], s.Seed+uint64(pair))
			if err != nil {
				return nil, err
			}
			whole[which] = append(whole[which], r.took.Whole().Seconds())
			allocate[which] = append(allocate[which], r.took.Allocate.Seconds())
			*bound[which] += r.bound
		}
		result.Say(progress, "overhead: pair %d of %d: session %.3f s without, %.3f s with the plugin", pair+1, s.Pairs, whole[0][pair], whole[1][pair])
	}
	o.Session, o.Allocate = compare(whole[0], whole[1]), compare(allocate[0], allocate[1])
	return o, nil
}

// warm measures the second session of a scheduler, in which the jobs come.
func (c Case) warm(setup cluster.Setup, seed uint64) (measured, error) {
	scheduler, err := cluster.New(setup)
	if err != nil {
		return measured{}, err
	}
	defer scheduler.Close()
	if err := scheduler.AddFleet(c.fleet(seed), seed); err != nil {
		return measured{}, err
	}
	if _, err := scheduler.Session(); err != nil {
		return measured{}, fmt.Errorf("measure a session: %w", err)
	}
	return c.session(scheduler)
}

func compare(without, with []float64) Compared {
	c := Compared{Stock: stats.Median(without), Paddle: stats.Median(with)}
	percents := make([]float64, len(with))
	for i := range with {
		percents[i] = 100 * (with[i]/without[i] - 1)
	}
	c.Percent = stats.Median(percents)
	c.Low, c.High, c.Level = stats.MedianBounds(percents, level)
	return c
}

// Worse is the dearer of the whole session and allocate.
func (o *Overhead) Worse() Compared {
	if o.Allocate.Percent > o.Session.Percent {
		return o.Allocate
	}
	return o.Session
}
