// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/play"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

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
	result, err := play.Play(cluster, setup, drawn, c.Seed)
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
