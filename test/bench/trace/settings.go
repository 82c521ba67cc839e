// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"errors"
	"fmt"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
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
