// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/play"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

// Settings of the benchmark. Default gives those of `make bench-trace`.
type Settings struct {
	// Loads, Schedulers and Seeds are played each with each.
	Loads      []float64 `json:"loads"`
	Schedulers []string  `json:"schedulers"`
	Seeds      []uint64  `json:"seeds"`
	// Jobs that are measured in a run.
	Jobs int `json:"jobs"`
	// Hosts of the cluster, about.
	Hosts int `json:"hosts"`
	// Cap of durations in seconds.
	Cap float64 `json:"cap_s"`
	// Gbps of the uplinks of nodes, racks and blocks.
	Gbps site.Gbps `json:"gbps"`
	// Rings are the order in which ranks send to each other.
	Rings site.Rings `json:"rings"`

	// Folder that trace.json is written to.
	Folder string `json:"-"`
	// Keep takes the runs that an earlier trace.json of the same settings has, if there is one, and plays the others only. It
	// is up to the caller that nothing else has changed since.
	Keep bool `json:"-"`
	// Command runs one case in a process of its own (One); as many at a time as Workers. Where there is none, cases run in
	// this process, one after the other.
	Command []string `json:"-"`
	Workers int      `json:"-"`
}

// Default are the loads, seeds and sizes of the published figures.
func Default() Settings {
	return Settings{
		Loads: []float64{0.7, judgedLoad, 0.95}, Schedulers: Schedulers(), Seeds: []uint64{1, 2, 3, 4, 5},
		Jobs: 1000, Hosts: 112, Cap: (2 * time.Hour).Seconds(), Gbps: site.Usual, Rings: site.ByNode,
		Folder: "_output/bench",
	}
}

func (s *Settings) check() error {
	if len(s.Loads) == 0 || len(s.Schedulers) == 0 || len(s.Seeds) == 0 {
		return errors.New("nothing to play: want a load, a scheduler and a seed at least")
	}
	for _, name := range s.Schedulers {
		if _, err := s.setup(name); err != nil {
			return err
		}
	}
	for _, width := range s.Gbps {
		if !(width > 0) {
			return fmt.Errorf("uplinks of %v Gbps: want more than 0", s.Gbps)
		}
	}
	return nil
}

// cases are what is to be played: each scheduler in turn, so that a run that is cut short has something to compare.
func (s *Settings) cases() []Case {
	var all []Case
	for _, load := range s.Loads {
		for _, seed := range s.Seeds {
			for _, scheduler := range s.Schedulers {
				all = append(all, Case{Load: load, Scheduler: scheduler, Seed: seed})
			}
		}
	}
	return all
}

// Case is one run to play.
type Case struct {
	// Load is GPU-seconds offered by capacity, in the window.
	Load      float64 `json:"load"`
	Scheduler string  `json:"scheduler"`
	Seed      uint64  `json:"seed"`
}

// String names the case.
func (c Case) String() string {
	return fmt.Sprintf("load %g, seed %d, %s", c.Load, c.Seed, c.Scheduler)
}

// Run is a case and what came of it.
type Run struct {
	Case
	play.Result
}

// play one case in this process.
func (s *Settings) play(c Case) (*Run, error) {
	setup, err := s.setup(c.Scheduler)
	if err != nil {
		return nil, err
	}
	cluster, err := site.New(site.Cut(s.Hosts), s.Gbps, s.Rings)
	if err != nil {
		return nil, err
	}
	drawn, err := workload.Draw(philly.Rows(), workload.Settings{
		Seed: c.Seed, Load: c.Load, GPUs: cluster.GPUs(), Jobs: s.Jobs, Cap: s.Cap,
	})
	if err != nil {
		return nil, err
	}
	result, err := setup(cluster, drawn, c.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return &Run{Case: c, Result: *result}, nil
}

// order is what a process that plays one case is told.
type order struct {
	Settings Settings `json:"settings"`
	Case     Case     `json:"case"`
}

// One plays the case that it is told on in, and tells the run on out, both as JSON: what Settings.Command does.
func One(in io.Reader, out io.Writer) error {
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return fmt.Errorf("read which case to play: %w", err)
	}
	run, err := o.Settings.play(o.Case)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(out).Encode(run); err != nil {
		return fmt.Errorf("tell a run: %w", err)
	}
	return nil
}
