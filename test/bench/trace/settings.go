// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

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
	// Cap of durations in seconds; 0 is none.
	Cap float64 `json:"cap_s"`
	// Gbps of the uplinks of nodes, racks and blocks.
	Gbps site.Gbps `json:"gbps"`
	// Mix of pods and frameworks.
	Mix workload.Mix `json:"mix"`
	// PSShare is the share of the jobs of several GPUs that have parameter servers; below 0 the model decides.
	PSShare float64 `json:"ps_share"`
	// Sparse is the part of a model that workers and servers exchange in a step.
	Sparse float64 `json:"sparse"`
	// Bursts has the jobs arrive as in the trace.
	Bursts bool `json:"bursts"`
	// Samples of jobs that run at one time, of the first seed: the formula is compared with the simulation of them.
	Samples int `json:"samples"`

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
		Jobs: 1000, Hosts: 112, Cap: (2 * time.Hour).Seconds(), Gbps: site.Usual,
		Mix: workload.Realistic, PSShare: -1, Sparse: 1, Samples: 200, Folder: "_output/bench",
	}
}

// Flags reads settings from the command line. Done, called once they are read, returns the seeds and the cap that they give.
func (s *Settings) Flags(flags *pflag.FlagSet) (done func()) {
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for trace.json")
	flags.Float64SliceVar(&s.Loads, "loads", s.Loads, "GPU-seconds offered by capacity")
	flags.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, "which to play")
	seed := flags.Uint64("seed", 1, "the first seed")
	seeds := flags.Int("seeds", len(s.Seeds), "how many seeds, one after the other")
	flags.IntVar(&s.Jobs, "jobs", s.Jobs, "jobs to measure in a run")
	flags.IntVar(&s.Hosts, "hosts", s.Hosts, "hosts of 8 GPUs, about: whole racks are taken")
	limit := flags.Duration("cap", time.Duration(s.Cap)*time.Second, "longest duration of a job; 0 means none")
	flags.Float64Var(&s.Gbps[site.Node], "node-gbps", s.Gbps[site.Node], "one direction of a node's uplink")
	flags.Float64Var(&s.Gbps[site.Rack], "rack-gbps", s.Gbps[site.Rack], "one direction of a rack's uplink")
	flags.Float64Var(&s.Gbps[site.Block], "block-gbps", s.Gbps[site.Block], "one direction of a block's uplink")
	flags.StringVar((*string)(&s.Mix), "mix", string(s.Mix), fmt.Sprintf("pods and frameworks: %s or %s", workload.Realistic, workload.OneGPU))
	flags.Float64Var(&s.PSShare, "ps-share", s.PSShare, "share of the jobs of several GPUs that have parameter servers; below 0 the model decides")
	flags.Float64Var(&s.Sparse, "sparse", s.Sparse, "part of a model that workers and servers exchange in a step")
	flags.BoolVar(&s.Bursts, "bursts", s.Bursts, "let the jobs arrive as in the trace, and not evenly")
	flags.IntVar(&s.Samples, "samples", s.Samples, "samples of the first seed with which the formula is compared with the simulation")
	flags.BoolVar(&s.Keep, "keep", false, "take the runs that trace.json has, if its settings are the same, and play the others only")
	return func() {
		s.Cap, s.Seeds = limit.Seconds(), nil
		for i := range *seeds {
			s.Seeds = append(s.Seeds, *seed+uint64(i))
		}
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
	cluster := site.New(site.Cut(s.Hosts), s.Gbps)
	drawn, err := workload.Draw(philly.Rows(), workload.Settings{
		Seed: c.Seed, Load: c.Load, GPUs: cluster.GPUs(), Jobs: s.Jobs, Cap: s.Cap,
		Mix: s.Mix, PSShare: s.PSShare, Sparse: s.Sparse, Bursts: s.Bursts,
	})
	if err != nil {
		return nil, err
	}
	samples := 0
	if c.Seed == s.Seeds[0] {
		samples = s.Samples
	}
	result, err := setup(cluster, drawn, c.Seed, samples)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c, err)
	}
	return &Run{Case: c, Result: *result}, nil
}

// order is the input of a process that plays one case.
type order struct {
	Settings Settings `json:"settings"`
	Case     Case     `json:"case"`
}

// One plays the case that it reads on in, and writes the run to out, both as JSON: what Settings.Command does.
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
