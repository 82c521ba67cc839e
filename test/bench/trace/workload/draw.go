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
	// Cap of durations in seconds. The warm-up before the window is as long, and the time after it in which others still
	// arrive half as long.
	Cap float64
}

// Drawn are the jobs of one run in the order of their arrivals: in [-Cap, 0) those that warm the cluster up, in [0, Window)
// the measured ones, and in [Window, Window+Cap/2) others after them, so that the last measured ones train in company.
type Drawn struct {
	Jobs   []*Job
	Window float64
}

// Draw jobs from rows of the trace, each row as likely as any other. The same seed gives the same jobs at every load, only
// further apart.
func Draw(rows []philly.Row, s Settings) (*Drawn, error) {
	if s.Jobs <= 0 || s.GPUs <= 0 || !(s.Load > 0) || !(s.Cap > 0) || len(rows) == 0 {
		return nil, fmt.Errorf("draw jobs: %+v from %d rows: everything must be above 0", s, len(rows))
	}
	for i := range rows {
		if rows[i].GPUs > s.GPUs {
			return nil, fmt.Errorf("draw jobs: a gang of %d GPUs is larger than the cluster of %d", rows[i].GPUs, s.GPUs)
		}
	}
	measured, offered := make([]philly.Row, s.Jobs), 0.0
	rng := rand.New(rand.NewPCG(s.Seed, windowStream))
	for i := range measured {
		measured[i] = rows[rng.IntN(len(rows))]
		offered += float64(measured[i].GPUs) * min(measured[i].Duration, s.Cap)
	}
	d := &Drawn{Window: offered / (s.Load * float64(s.GPUs))}
	arrivals := make([]float64, s.Jobs)
	for i := range arrivals {
		arrivals[i] = rng.Float64() * d.Window
	}
	slices.Sort(arrivals)

	add := func(row philly.Row, arrival float64) error {
		job, err := newJob(len(d.Jobs), row, arrival, s.Cap)
		if err == nil {
			job.Measured = arrival >= 0 && arrival < d.Window
			d.Jobs = append(d.Jobs, job)
		}
		return err
	}
	rate := float64(s.Jobs) / d.Window
	err := company(rows, s.Seed, beforeStream, rate, -s.Cap, 0, add)
	for i := 0; i < s.Jobs && err == nil; i++ {
		err = add(measured[i], arrivals[i])
	}
	return d, errors.Join(err, company(rows, s.Seed, afterStream, rate, d.Window, d.Window+s.Cap/2, add))
}

// Streams of random numbers, so that one does not depend on how many another took.
const (
	windowStream = iota
	beforeStream
	afterStream
)

// company arrives at a rate between two times, as a Poisson process.
func company(rows []philly.Row, seed, stream uint64, rate, from, to float64, add func(philly.Row, float64) error) error {
	rng := rand.New(rand.NewPCG(seed, stream))
	for at := from + rng.ExpFloat64()/rate; at < to; at += rng.ExpFloat64() / rate {
		if err := add(rows[rng.IntN(len(rows))], at); err != nil {
			return err
		}
	}
	return nil
}
