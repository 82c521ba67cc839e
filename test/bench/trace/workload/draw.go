// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
)

// Settings of a draw.
type Settings struct {
	Seed uint64
	// Load is the GPU-seconds that the measured jobs train for, by those that the cluster has in the window.
	Load float64
	// GPUs of the cluster.
	GPUs int
	// Jobs that are measured.
	Jobs int
	// Cap of durations in seconds; 0 is none.
	Cap float64
	// Mix of pods and frameworks.
	Mix Mix
	// PSShare is the share of the jobs of several GPUs that have parameter servers; below 0 the model decides.
	PSShare float64
	// Sparse is the part of a model that workers and servers exchange in a step; 1 is all of it.
	Sparse float64
	// Bursts has the jobs arrive as in the trace, a stretch of it after the other, and not evenly.
	Bursts bool
}

// Drawn are the jobs of one run in the order of their arrivals. Those that arrive in [-Cap, 0) warm the cluster up. Those in
// [0, Window) are measured. Others arrive after them, in [Window, Window+Cap/2), so that the last measured ones share links. Without
// a cap the window's length replaces it. A service is several jobs.
type Drawn struct {
	Jobs   []*Job
	Window float64
}

// Draw jobs from rows of the trace, each row as likely as any other. The same seed gives the same jobs at every load, only
// further apart.
func Draw(rows []philly.Row, s Settings) (*Drawn, error) {
	if s.Jobs <= 0 || s.GPUs <= 0 || !(s.Load > 0) || s.Cap < 0 || !(s.Sparse > 0) || s.PSShare > 1 || len(rows) == 0 {
		return nil, fmt.Errorf("draw jobs: %+v from %d rows: jobs, GPUs, load and sparse must be above 0, a share at most 1", s, len(rows))
	}
	if s.Mix != Realistic && s.Mix != OneGPU {
		return nil, fmt.Errorf("draw jobs: mix %q: want %s or %s", s.Mix, Realistic, OneGPU)
	}
	for i := range rows {
		if rows[i].GPUs > s.GPUs {
			return nil, fmt.Errorf("draw jobs: a gang of %d GPUs is larger than the cluster of %d", rows[i].GPUs, s.GPUs)
		}
	}
	rng := rand.New(rand.NewPCG(s.Seed, windowStream))
	measured, arrivals, err := s.measured(rows, rng)
	if err != nil {
		return nil, err
	}
	offered := 0.0
	for _, r := range measured {
		duration := r.Duration
		if s.Cap > 0 {
			duration = min(duration, s.Cap)
		}
		offered += float64(r.GPUs) * duration
	}
	d := &Drawn{Window: offered / (s.Load * float64(s.GPUs))}
	around := s.Cap
	if around == 0 {
		around = d.Window
	}
	add := func(r row, arrival float64) error {
		jobs, err := s.jobs(r, len(d.Jobs), arrival)
		for _, job := range jobs {
			job.Measured = arrival >= 0 && arrival < d.Window
			d.Jobs = append(d.Jobs, job)
		}
		return err
	}
	rate := float64(s.Jobs) / d.Window
	err = background(rows, s.Seed, beforeStream, rate, -around, 0, add)
	for i := 0; i < s.Jobs && err == nil; i++ {
		err = add(measured[i], arrivals[i]*d.Window)
	}
	return d, errors.Join(err, background(rows, s.Seed, afterStream, rate, d.Window, d.Window+around/2, add))
}

// measured rows, and when they arrive, as a part of the window.
func (s *Settings) measured(rows []philly.Row, rng *rand.Rand) (measured []row, arrivals []float64, err error) {
	if s.Bursts {
		if s.Jobs >= len(rows) {
			return nil, nil, fmt.Errorf("draw jobs: %d of a stretch of the trace, which has %d rows: want fewer jobs", s.Jobs, len(rows))
		}
		at := rng.IntN(len(rows) - s.Jobs)
		stretch := rows[at : at+s.Jobs+1]
		first, last := stretch[0].Arrival, stretch[s.Jobs].Arrival
		for i := range s.Jobs {
			measured = append(measured, row{stretch[i], rng.Uint64()})
			arrivals = append(arrivals, (stretch[i].Arrival-first)/max(1, last-first))
		}
		return measured, arrivals, nil
	}
	for range s.Jobs {
		measured = append(measured, row{rows[rng.IntN(len(rows))], rng.Uint64()})
		arrivals = append(arrivals, rng.Float64())
	}
	slices.Sort(arrivals)
	return measured, arrivals, nil
}

// Streams of random numbers, so that one does not depend on how many another took.
const (
	windowStream = iota
	beforeStream
	afterStream
)

// background arrives at a rate between two times, as a Poisson process.
func background(rows []philly.Row, seed, stream uint64, rate, from, to float64, add func(row, float64) error) error {
	rng := rand.New(rand.NewPCG(seed, stream))
	for at := from + rng.ExpFloat64()/rate; at < to; at += rng.ExpFloat64() / rate {
		if err := add(row{rows[rng.IntN(len(rows))], rng.Uint64()}, at); err != nil {
			return err
		}
	}
	return nil
}
