// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bars"
	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/churn"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
	"github.com/paddle-volcano/paddle-volcano/test/session/speed"
)

// Settings of a run. Default gives those of `make bench-session`.
type Settings struct {
	Seed uint64
	// Only these Parts; none means all.
	Only []string
	// Folder that the JSON is written to.
	Folder string
	// Runs of the plugin in each case of speed, and of stock where it is short.
	Runs int
	// Short leaves out the cases of speed that look at all nodes, where stock takes a quarter of an hour.
	Short bool
	// Alone runs the plugin's cases of speed without stock.
	Alone bool
	// Largest leaves out the cases of speed with more nodes than this; 0 leaves out none.
	Largest int
	// Pairs of sessions that tell what the plugin costs other jobs.
	Pairs int
	// Clusters for each scenario of quality; Queues are the clusters with more jobs than fit.
	Clusters, Queues int
	// Instances of each scenario to search for something better; Effort is the planner's budget then, in multiples of its
	// usual one.
	Instances, Effort int
	// Sessions of churn, and the jobs that are bound and go before them.
	Sessions, Before int
}

// Report is what _output/bench/session.json holds. Parts that were not run are left out.
type Report struct {
	Seed    uint64         `json:"seed"`
	Machine result.Machine `json:"machine"`
	// Seconds that each part took.
	Seconds map[string]float64 `json:"seconds"`

	Speed    []speed.Row     `json:"speed,omitempty"`
	Scale    []speed.Scale   `json:"scale,omitempty"`
	Overhead *speed.Overhead `json:"other_jobs_overhead,omitempty"`

	Quality        []quality.Row    `json:"quality,omitempty"`
	QualitySummary *quality.Summary `json:"quality_summary,omitempty"`
	Queues         *quality.Queues  `json:"queues,omitempty"`

	Optimality *quality.Nearness `json:"optimality,omitempty"`
	Churn      *Churn            `json:"churn,omitempty"`

	// Bars say what was asked for and what was reached.
	Bars []bars.Bar `json:"bars"`
}

// Churn is the heap over many sessions with both set-ups.
type Churn struct {
	Stock  *churn.Series `json:"stock"`
	Paddle *churn.Series `json:"paddle"`
}

// Parts of a run, in this order: the growth of the heap is a share of its size at the start, so no other part may run before churn.
func Parts() []string {
	return []string{"churn", "overhead", "speed", "scale", "quality", "queues", "optimality"}
}

// Default measures as much as the bars need.
func Default() Settings {
	return Settings{
		Seed: 1, Folder: "_output/bench", Runs: 5, Pairs: 201, Clusters: 10, Queues: 30,
		Instances: 2, Effort: 1000, Sessions: 10_000, Before: 12_000,
	}
}

// Run measures and writes. A bar that is missed is no error.
func Run(s Settings, progress io.Writer) error {
	r := &Report{Seed: s.Seed, Machine: result.ThisMachine(), Seconds: map[string]float64{}}
	measures := map[string]func() error{
		"churn": func() error {
			stock, paddle, err := churn.Measure(churn.Settings{Seed: s.Seed, Sessions: s.Sessions, Before: s.Before}, progress)
			r.Churn = &Churn{Stock: stock, Paddle: paddle}
			return err
		},
		"overhead": func() (err error) {
			r.Overhead, err = speed.MeasureOverhead(speed.Settings{Seed: s.Seed, Pairs: s.Pairs}, progress)
			return err
		},
		"speed": func() (err error) {
			r.Speed, err = speed.Measure(speed.Settings{Seed: s.Seed, Runs: s.Runs, Short: s.Short, Alone: s.Alone, Largest: s.Largest}, progress)
			return err
		},
		"scale": func() (err error) {
			r.Scale, err = speed.MeasureScale(speed.Settings{Seed: s.Seed, Runs: s.Runs}, progress)
			return err
		},
		"quality": func() (err error) {
			r.Quality, r.QualitySummary, err = quality.Measure(quality.Settings{Seed: s.Seed, Clusters: s.Clusters}, progress)
			return err
		},
		"queues": func() (err error) {
			r.Queues, err = quality.MeasureQueues(quality.Settings{Seed: s.Seed, Clusters: s.Queues}, progress)
			return err
		},
		"optimality": func() (err error) {
			r.Optimality, err = quality.MeasureNearness(quality.Search{Seed: s.Seed, PerScenario: s.Instances, Effort: s.Effort}, progress)
			return err
		},
	}
	for _, part := range Parts() {
		if len(s.Only) > 0 && !slices.Contains(s.Only, part) {
			continue
		}
		start := time.Now()
		if err := measures[part](); err != nil {
			return fmt.Errorf("measure %s: %w", part, err)
		}
		r.Seconds[part] = time.Since(start).Seconds()
	}
	r.Bars = r.bars()
	return result.Write(s.Folder, "session.json", r)
}
