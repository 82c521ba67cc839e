// SPDX-License-Identifier: Apache-2.0

package churn

import (
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Settings of the measurement.
type Settings struct {
	Seed     uint64
	Sessions int
	// Before is how many jobs are bound and go in a hurry before the heap is watched: what keeps a bounded number of things
	// has them by then.
	Before int
}

// Series is the heap in use after a garbage collection, in bytes, as sessions go by, at moments without jobs.
type Series struct {
	Setup    string    `json:"setup"`
	Sessions int       `json:"sessions"`
	Every    int       `json:"sampled_every"`
	Heap     []float64 `json:"heap_bytes"`
	// Slope is the median slope between all pairs of samples, in bytes per session.
	Slope float64 `json:"slope_bytes_per_session"`
	// Growth is Slope over all sessions, by the median of the heap.
	Growth float64 `json:"growth_share"`
	// Goroutines at the first and the last sample.
	Goroutines [2]int `json:"goroutines"`
	// Jobs that came, were bound whole, and went; Pods that were bound.
	Came  int `json:"jobs_came"`
	Bound int `json:"jobs_bound"`
	Gone  int `json:"jobs_gone"`
	// Before are the jobs that were bound and went before.
	Before int `json:"jobs_before"`
}

// samples of a run.
const samples = 50

// Measure runs the sessions with stock and with the plugin: what stock's heap does is not the plugin's doing.
func Measure(s Settings, progress io.Writer) (stock, paddle *Series, err error) {
	if stock, err = run(cluster.Stock(), s, progress); err == nil {
		paddle, err = run(cluster.Paddle(nil), s, progress)
	}
	return stock, paddle, err
}

// run one set-up.
func run(setup cluster.Setup, s Settings, progress io.Writer) (*Series, error) {
	scheduler, err := cluster.New(setup)
	if err != nil {
		return nil, err
	}
	defer scheduler.Close()
	t := &traffic{Rand: rand.New(rand.NewPCG(s.Seed, 0)), scheduler: scheduler}
	if err := scheduler.AddFleet(fleet(), s.Seed); err != nil {
		return nil, err
	}
	series := &Series{Setup: setup.Name, Sessions: s.Sessions, Every: max(1, s.Sessions/samples)}
	if err := t.hurry(s.Before); err != nil {
		return nil, fmt.Errorf("jobs before, with set-up %s: %w", setup.Name, err)
	}
	series.Before = t.bound
	t.came, t.bound, t.gone = 0, 0, 0
	for session := 1; session <= s.Sessions; session++ {
		t.step(session)
		if _, err := scheduler.Session(); err != nil {
			return nil, fmt.Errorf("session %d with set-up %s: %w", session, setup.Name, err)
		}
		t.afterSession()
		if session%series.Every != 0 {
			continue
		}
		// With no job there, the heap depends on what was before only.
		if err := t.drain(); err != nil {
			return nil, fmt.Errorf("drain after session %d with set-up %s: %w", session, setup.Name, err)
		}
		series.sample()
		if len(series.Heap)%10 == 0 {
			result.Say(progress, "churn: %s, %d of %d sessions, heap %.2f MB", setup.Name, session, s.Sessions, series.Heap[len(series.Heap)-1]/1e6)
		}
	}
	series.Came, series.Bound, series.Gone = t.came, t.bound, t.gone
	series.finish()
	return series, nil
}

// heap in use, after what is not is gone.
func heap() float64 {
	var memory runtime.MemStats
	runtime.GC()
	runtime.GC() // what had a finalizer goes with the second
	runtime.ReadMemStats(&memory)
	return float64(memory.HeapAlloc)
}

func (s *Series) sample() {
	s.Heap = append(s.Heap, heap())
	s.Goroutines[1] = runtime.NumGoroutine()
	if s.Goroutines[0] == 0 {
		s.Goroutines[0] = s.Goroutines[1]
	}
}

func (s *Series) finish() {
	sessions := make([]float64, len(s.Heap))
	for i := range sessions {
		sessions[i] = float64((i + 1) * s.Every)
	}
	s.Slope = stats.Slope(sessions, s.Heap)
	if middle := stats.Median(s.Heap); middle > 0 {
		s.Growth = s.Slope * float64(s.Sessions) / middle
	}
}
