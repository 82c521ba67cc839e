// SPDX-License-Identifier: Apache-2.0

package speed

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Row is one case: how long allocate takes to place all of its pods in one session of a scheduler that has just started,
// in seconds, the median of several runs.
type Row struct {
	Nodes  int     `json:"nodes"`
	Pods   int     `json:"pods"`
	Gang   int     `json:"gang"`
	Mode   string  `json:"mode"`
	Stock  float64 `json:"stock_s"`
	Paddle float64 `json:"paddle_s"`
	// Ratio of stock by paddle.
	Ratio float64 `json:"ratio"`
	// Percentage is --percentage-nodes-to-find of both; 0 is the default.
	Percentage int32 `json:"percentage_nodes_to_find"`
	// Runs are all runs, in the order in which they were made.
	StockRuns  []float64 `json:"stock_runs_s"`
	PaddleRuns []float64 `json:"paddle_runs_s"`
	// Bound pods of both; a row in which one of them did not bind all is no measurement.
	StockBound  int `json:"stock_bound"`
	PaddleBound int `json:"paddle_bound"`
	// PaddleBytes are what the session with the plugin allocated, the median of its runs.
	PaddleBytes float64 `json:"paddle_bytes"`
}

// Settings of the measurements.
type Settings struct {
	Seed uint64
	// Runs of the plugin; stock is run as often while it is short.
	Runs int
	// Pairs of runs that tell what the plugin costs other jobs.
	Pairs int
	// Short measures at the default of --percentage-nodes-to-find only.
	Short bool
	// Alone runs the plugin without stock: ratios are then 0.
	Alone bool
	// Largest is how many nodes a case may have; 0 means any number.
	Largest int
}

// patience is after how long stock is not run again.
const patience = 20 * time.Second

// Measure runs all cases at the default of --percentage-nodes-to-find, and then at 100.
func Measure(s Settings, progress io.Writer) ([]Row, error) {
	percentages := []int32{0, 100}
	if s.Short {
		percentages = percentages[:1]
	}
	cases := s.cases()
	if len(cases) == 0 {
		return nil, fmt.Errorf("no case of speed has at most %d nodes (--largest): the smallest has %d", s.Largest, Cases()[0].Nodes)
	}
	var rows []Row
	for _, percentage := range percentages {
		for _, c := range cases {
			row, err := c.measure(s, percentage, progress)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// cases are those that are not left out.
func (s *Settings) cases() []Case {
	return slices.DeleteFunc(Cases(), func(c Case) bool { return s.Largest != 0 && c.Nodes > s.Largest })
}

// measure one case, stock and paddle by turns.
func (c Case) measure(s Settings, percentage int32, progress io.Writer) (Row, error) {
	row := Row{Nodes: c.Nodes, Pods: c.Pods, Gang: c.Gang, Mode: c.Mode, Percentage: percentage}
	spent := time.Duration(0)
	var bytes []float64
	for i := range max(1, s.Runs) {
		r, err := c.run(cluster.Paddle(nil), percentage, s.Seed, progress)
		if err != nil {
			return row, err
		}
		row.PaddleRuns, row.PaddleBound = append(row.PaddleRuns, r.took.Allocate.Seconds()), r.bound
		bytes = append(bytes, r.bytes)
		if s.Alone || i > 0 && spent > patience {
			continue
		}
		if r, err = c.run(cluster.Stock(), percentage, s.Seed, progress); err != nil {
			return row, err
		}
		spent += r.took.Allocate
		row.StockRuns, row.StockBound = append(row.StockRuns, r.took.Allocate.Seconds()), r.bound
	}
	row.Stock, row.Paddle = stats.Median(row.StockRuns), stats.Median(row.PaddleRuns)
	row.Ratio, row.PaddleBytes = row.Stock/row.Paddle, stats.Median(bytes)
	return row, nil
}

// measured is one session.
type measured struct {
	took  cluster.Took
	bound int
	bytes float64 // allocated
}

// run starts a scheduler on a fresh cluster and places all jobs in its first session.
func (c Case) run(setup cluster.Setup, percentage int32, seed uint64, progress io.Writer) (measured, error) {
	setup.Percentage = percentage
	scheduler, err := cluster.New(setup)
	if err != nil {
		return measured{}, err
	}
	defer scheduler.Close()
	if err := scheduler.AddFleet(c.fleet(seed), seed); err != nil {
		return measured{}, err
	}
	r, err := c.session(scheduler)
	if err == nil {
		result.Say(progress, "speed: %d nodes, %d pods, gangs of %d, percentage %d: %s took %.3f s and bound %d pods",
			c.Nodes, c.Pods, c.Gang, percentage, setup.Name, r.took.Allocate.Seconds(), r.bound)
	}
	return r, err
}

// session adds the jobs and runs one session.
func (c Case) session(scheduler *cluster.Scheduler) (measured, error) {
	jobs := c.jobs(c)
	for _, job := range jobs {
		scheduler.AddJob(job)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	took, err := scheduler.Session()
	runtime.ReadMemStats(&after)
	if err != nil {
		return measured{}, fmt.Errorf("measure a session: %w", err)
	}
	r := measured{took: took, bytes: float64(after.TotalAlloc - before.TotalAlloc)}
	for _, job := range jobs {
		r.bound += len(scheduler.Bound(job))
	}
	return r, nil
}

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
