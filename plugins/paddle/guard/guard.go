// SPDX-License-Identifier: Apache-2.0

// Package guard confines failures of the planner to the job that is planned: it recovers from panics, limits the time that
// searches take in a session, and backs off from jobs whose planning has failed.
package guard

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

const (
	// searchGrace is how long a search may take to stop once that is requested; then it is abandoned.
	searchGrace = time.Second
	// maxAbandoned is how many abandoned searches may run: when that many run, no search begins, because each occupies a core.
	maxAbandoned = 2
	// minBackoff and maxBackoff are how long a job is not planned after its first failure in a row, and after many.
	minBackoff = time.Minute
	maxBackoff = time.Hour
)

// Unlimited is a budget without a limit.
const Unlimited = time.Duration(math.MaxInt64)

// ErrPanicked is the error of work that panicked.
var ErrPanicked = errors.New("the planner panicked; the scheduler's log has the stack")

var (
	errTooSlow = errors.New("the planner took too long")
	errNoTime  = errors.New("the session's time for planning is used up (argument planning-seconds)")
	errManyRun = errors.New("too many searches that do not stop are running")
)

// Failed reports whether an error means that the planner failed or did not run.
func Failed(err error) bool {
	return slices.ContainsFunc([]error{ErrPanicked, errTooSlow, errNoTime, errManyRun}, func(is error) bool { return errors.Is(err, is) })
}

// Work is a part of the work on one job; on all jobs if Job is "".
type Work struct {
	Part string
	Job  api.JobID
}

// Guard outlives sessions.
type Guard struct {
	// Inject, if set, is called where work begins, and with searches where the search of that work does. Tests make it fail.
	Inject func(of Work, searches bool)

	// budget is the time for searches in one session, and spent what of it is used.
	budget, spent time.Duration
	abandoned     atomic.Int32 // searches that run on

	mu       sync.Mutex
	backoffs map[Work]backoff
	panics   map[string]bool // by where they happened
}

// backoff is until when a part is not tried again.
type backoff struct {
	until time.Time
	wait  time.Duration
	err   error
}

// New returns a Guard without a time limit.
func New() *Guard {
	return &Guard{budget: Unlimited, backoffs: map[Work]backoff{}, panics: map[string]bool{}}
}

// StartSession sets the time for searches in a session, and forgets jobs that are gone.
func (g *Guard) StartSession(budget time.Duration, jobs map[api.JobID]*api.JobInfo) {
	g.budget, g.spent = budget, 0
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.backoffs, func(of Work, _ backoff) bool { _, ok := jobs[of.Job]; return !ok })
}

// Spent returns the time that searches took in the session.
func (g *Guard) Spent() time.Duration { return g.spent }

// BackedOff returns the error with which work failed last, nil if it may be tried.
func (g *Guard) BackedOff(of Work) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if b, ok := g.backoffs[of]; ok && time.Now().Before(b.until) {
		return b.err
	}
	return nil
}

// backOff keeps work from being tried, twice as long as the last time.
func (g *Guard) backOff(of Work, err error) {
	if of.Job == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := min(maxBackoff, max(minBackoff, 2*g.backoffs[of].wait))
	g.backoffs[of] = backoff{until: time.Now().Add(wait), wait: wait, err: err}
	klog.InfoS("Work on a job failed and is not tried again for a while", "job", of.Job, "part", of.Part, "for", wait, "reason", err)
}

// Run runs work and returns its error, ErrPanicked if it panics. It runs work also while that is backed off.
func (g *Guard) Run(of Work, work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = g.panicked(of, newPanicValue(value))
		}
	}()
	if g.Inject != nil {
		g.Inject(of, false)
	}
	return work()
}

// Search runs a search on a separate goroutine, so that one that neither ends nor stops can be abandoned. stop reports
// whether the search must return placement.ErrStopped. If the search panics or is abandoned, lost is called before Search
// returns: the state of what the search has access to is then undefined.
func Search[T any](g *Guard, of Work, lost func(), search func(stop func() bool) (T, error)) (T, error) {
	var none T
	left := g.budget - g.spent
	switch {
	case g.BackedOff(of) != nil:
		return none, g.BackedOff(of)
	case g.abandoned.Load() >= maxAbandoned:
		return none, errManyRun
	case left <= 0:
		return none, errNoTime
	}
	begin := time.Now()
	type result struct {
		found T
		err   error
		panic *panicValue
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if value := recover(); value != nil {
				r.panic = newPanicValue(value)
			}
			done <- r
		}()
		if g.Inject != nil {
			g.Inject(of, true)
		}
		r.found, r.err = search(func() bool { return time.Since(begin) > left })
	}()
	var late <-chan time.Time
	if g.budget < Unlimited {
		timer := time.NewTimer(left + searchGrace)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case r := <-done:
		took := time.Since(begin)
		g.spent += took
		switch {
		case r.panic != nil:
			lost()
			return none, g.panicked(of, r.panic)
		case errors.Is(r.err, placement.ErrStopped):
			metrics.CountStoppedSearch(metrics.SearchStopped)
			if took < g.budget/2 {
				return none, errNoTime // other searches took the time
			}
			g.backOff(of, errTooSlow)
			return none, errTooSlow
		}
		g.mu.Lock()
		delete(g.backoffs, of)
		g.mu.Unlock()
		return r.found, r.err
	case <-late:
		g.spent += time.Since(begin)
		g.abandoned.Add(1)
		metrics.CountStoppedSearch(metrics.SearchAbandoned)
		metrics.AddAbandonedSearches(1)
		go func() {
			<-done
			g.abandoned.Add(-1)
			metrics.AddAbandonedSearches(-1)
		}()
		lost()
		g.backOff(of, errTooSlow)
		return none, errTooSlow
	}
}

// maxPanics bounds the places of panics whose stacks are logged.
const maxPanics = 100

// panicValue is a panic: its value, where it happened and the stack.
type panicValue struct {
	value any
	where string
	stack string
}

// newPanicValue is called by the deferred function that recovered.
func newPanicValue(value any) *panicValue {
	return &panicValue{value: value, where: panicPlace(), stack: string(debug.Stack())}
}

// panicPlace returns the line that panicked: the first one above the runtime's last panic.
func panicPlace() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	place, after := "", false
	for {
		frame, more := frames.Next()
		switch {
		case frame.Function == "runtime.gopanic":
			place, after = "", true
		case after && place == "" && !strings.HasPrefix(frame.Function, "runtime."):
			place = fmt.Sprintf("%s:%d", frame.Function, frame.Line)
		}
		if !more {
			return place
		}
	}
}

// panicked counts a panic, logs its stack if it is the first at its place, and backs off.
func (g *Guard) panicked(of Work, p *panicValue) error {
	metrics.CountPanic(of.Part)
	g.mu.Lock()
	first := !g.panics[p.where] && len(g.panics) < maxPanics
	if first {
		g.panics[p.where] = true
	}
	g.mu.Unlock()
	if first {
		klog.ErrorS(fmt.Errorf("panic: %v", p.value), "The plugin panicked; its stack is logged once", "part", of.Part, "job", of.Job, "at", p.where, "stack", p.stack)
	}
	err := fmt.Errorf("%w (at %s)", ErrPanicked, p.where)
	g.backOff(of, err)
	return err
}
