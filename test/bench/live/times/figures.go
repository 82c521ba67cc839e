// SPDX-License-Identifier: Apache-2.0

package times

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Figures sum up a history. Rates are pods per second, times seconds.
type Figures struct {
	// Created is from the first request to the last creation; Running to the last pod that runs, 0 where none does.
	Created float64 `json:"created_pods_s"`
	Bound   float64 `json:"pods_s"`
	Running float64 `json:"running_pods_s"`
	// Seconds are what Bound was taken over.
	Seconds float64 `json:"seconds"`
	// Read is how long the scheduler read the cluster before it wrote anything, which is in Seconds where it was started
	// for this; BoundAfter is the rate without it.
	Read       float64 `json:"read_s"`
	BoundAfter float64 `json:"pods_s_after_reading"`
	// GangWait is from when the last pod of a gang was there, and the scheduler as well, to when the last was bound.
	GangWait Wait `json:"gang_wait_s"`
	// PartlyBound is from a gang's first binding to its last.
	PartlyBound Wait `json:"partly_bound_s"`
}

// Wait is a distribution.
type Wait struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// Work returns the figures of one whose work began after the pods were there: it is timed from its first request.
func (s *History) Work() Figures { return s.figures(s.begin) }

// Whole returns the figures of pods that came while all ran: they are timed from the first request in the namespace.
func (s *History) Whole() Figures { return s.figures(s.First) }

func (s *History) figures(begin time.Time) Figures {
	var created, bound, running time.Time
	for _, pod := range s.Pods {
		created, bound, running = later(created, pod.Created), later(bound, pod.Bound), later(running, pod.Running)
	}
	f := Figures{
		Created: rate(s.Created, created.Sub(s.First)), Bound: rate(s.Bound, bound.Sub(begin)),
		Seconds: bound.Sub(begin).Seconds(), GangWait: s.gangWait(begin), PartlyBound: s.partlyBound(),
	}
	f.BoundAfter = f.Bound
	if s.read.After(begin) {
		f.Read, f.BoundAfter = s.read.Sub(begin).Seconds(), rate(s.Bound, bound.Sub(s.read))
	}
	if s.Running > 0 {
		f.Running = rate(s.Running, running.Sub(s.First))
	}
	return f
}

func (s *History) gangWait(begin time.Time) Wait {
	ready, bound := map[string]time.Time{}, map[string]time.Time{}
	for name, pod := range s.Pods {
		gang := Gang(name)
		ready[gang], bound[gang] = later(later(ready[gang], pod.Created), begin), later(bound[gang], pod.Bound)
	}
	waits := make([]float64, 0, len(ready))
	for gang, at := range ready {
		waits = append(waits, max(0, bound[gang].Sub(at).Seconds()))
	}
	return WaitOf(waits)
}

func (s *History) partlyBound() Wait {
	first, last := map[string]time.Time{}, map[string]time.Time{}
	for name, pod := range s.Pods {
		if pod.Bound.IsZero() {
			continue
		}
		gang := Gang(name)
		if at, ok := first[gang]; !ok || pod.Bound.Before(at) {
			first[gang] = pod.Bound
		}
		last[gang] = later(last[gang], pod.Bound)
	}
	spans := make([]float64, 0, len(first))
	for gang, at := range first {
		spans = append(spans, last[gang].Sub(at).Seconds())
	}
	return WaitOf(spans)
}

// WaitOf sums up waits in seconds: each percentile is one of them, the least that this percentage of waits does not exceed.
func WaitOf(waits []float64) Wait {
	if len(waits) == 0 {
		return Wait{}
	}
	return Wait{P50: stats.Percentile(waits, 50), P99: stats.Percentile(waits, 99), Max: slices.Max(waits)}
}

// Writes returns what those who place pods wrote until the last pod was bound, in the order in which it was answered.
func (s *History) Writes() []*auditv1.Event {
	var last time.Time
	for _, pod := range s.Pods {
		last = later(last, pod.Bound)
	}
	writes := slices.DeleteFunc(slices.Clone(s.writes), func(e *auditv1.Event) bool { return e.StageTimestamp.After(last) })
	slices.SortStableFunc(writes, func(a, b *auditv1.Event) int { return a.StageTimestamp.Compare(b.StageTimestamp.Time) })
	return writes
}

// Late returns how many writes came later than the last binding.
func (s *History) Late() int { return len(s.writes) - len(s.Writes()) }

// Calls returns what was asked since Watch.
func (s *History) Calls() Calls { return s.calls }

func rate(n int, took time.Duration) float64 {
	if took <= 0 {
		return 0
	}
	return float64(n) / took.Seconds()
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ErrStalled is the error of a Waiter that has seen no progress for as long as its patience.
var ErrStalled = errors.New("nothing has happened")

// Waiter waits for pods.
type Waiter struct {
	// Read reads what has happened.
	Read func() error
	// Failed yields the error of a component that exited. It is nil where components are not watched.
	Failed <-chan error
	// Patience is for how long nothing may happen.
	Patience time.Duration
}

// Until reads until count returns want or more. The error after a timeout has the last count.
func (w Waiter) Until(ctx context.Context, what string, want int, count func() int) error {
	last, since := -1, time.Now()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := w.Read(); err != nil {
			return err
		}
		now := count()
		if now >= want {
			return nil
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > w.Patience {
			return fmt.Errorf("wait for pods to be %s: %w for %s; %d of %d are", what, ErrStalled, w.Patience, now, want)
		}
		select {
		case <-tick.C:
		case err := <-w.Failed:
			return fmt.Errorf("wait for pods to be %s: %w", what, err)
		case <-ctx.Done():
			return fmt.Errorf("wait for pods to be %s: %w; %d of %d are", what, ctx.Err(), now, want)
		}
	}
}
