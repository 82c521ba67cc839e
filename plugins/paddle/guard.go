// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
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
	// searchGrace is how long a search may take to stop once it was asked to; then it is abandoned.
	searchGrace = time.Second
	// maxAbandoned is how many abandoned searches may run: with so many nothing is planned, for each of them holds a core.
	maxAbandoned = 2
	// minHold and maxHold are how long a job is not planned after the first failure in a row, and after the last of many.
	minHold = time.Minute
	maxHold = time.Hour
	// maxCauses bounds the causes of panics whose stacks are logged.
	maxCauses = 100
)

// unlimited time for planning.
const unlimitedTime = time.Duration(math.MaxInt64)

var (
	errPanicked = errors.New("the planner panicked; the scheduler's log has the stack")
	errTooSlow  = errors.New("the planner took too long")
	errNoTime   = errors.New("the session's time for planning is used up (argument planning-seconds)")
	errManyRun  = errors.New("too many searches that do not stop are running")
)

// failed tells whether there is no plan because the planner failed, or was not asked.
func failed(err error) bool {
	for _, is := range []error{errPanicked, errTooSlow, errNoTime, errManyRun} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// guard keeps what goes wrong in planning to the job that is planned: it recovers from panics, bounds the time that
// planning takes in a session, and holds jobs back whose planning has failed. It outlives sessions.
type guard struct {
	// budget is the time for planning in one session, and spent what of it is used.
	budget, spent time.Duration
	abandoned     *atomic.Int32 // searches that run on
	// inject is called where work begins, and where its search does; nil but in tests.
	inject func(of workOn, searches bool)

	mu     sync.Mutex
	held   map[workOn]hold
	causes map[string]bool // of panics, by where they happened
}

// workOn is a part of the work on one job.
type workOn struct {
	part string
	job  api.JobID
}

// hold is until when a part is not tried again.
type hold struct {
	until time.Time
	wait  time.Duration
	err   error
}

func newGuard() *guard {
	return &guard{budget: unlimitedTime, held: map[workOn]hold{}, causes: map[string]bool{}, abandoned: &atomic.Int32{}}
}

// next begins a session with a budget. Jobs that are no more are forgotten.
func (g *guard) next(budget time.Duration, jobs map[api.JobID]*api.JobInfo) {
	g.budget, g.spent = budget, 0
	g.mu.Lock()
	defer g.mu.Unlock()
	for of := range g.held {
		if _, ok := jobs[of.job]; !ok {
			delete(g.held, of)
		}
	}
}

// refuses is the error for work that is held back.
func (g *guard) refuses(of workOn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h, ok := g.held[of]; ok && time.Now().Before(h.until) {
		return h.err
	}
	return nil
}

// holdBack holds work back, twice as long as the last time.
func (g *guard) holdBack(of workOn, err error) {
	if of.job == "" { // the work of all jobs
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	wait := min(maxHold, max(minHold, 2*g.held[of].wait))
	g.held[of] = hold{until: time.Now().Add(wait), wait: wait, err: err}
	klog.InfoS("Work on a job failed and is not tried again for a while", "job", of.job, "part", of.part, "for", wait, "reason", err)
}

// release forgets that work failed.
func (g *guard) release(of workOn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.held, of)
}

// isNew tells whether no panic at that place was logged yet.
func (g *guard) isNew(place string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.causes[place] || len(g.causes) >= maxCauses {
		return false
	}
	g.causes[place] = true
	return true
}

// recovered runs work and makes errors of its panics.
func (g *guard) recovered(of workOn, work func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = g.panicked(of, newPanic(cause))
		}
	}()
	if g.inject != nil {
		g.inject(of, false)
	}
	return work()
}

// search runs a search on a goroutine of its own, so that one that neither ends nor stops can be abandoned. lost is called
// before the error is returned of a search that panicked or was abandoned: what the search had is its own then, and in no
// known state.
func search[T any](g *guard, of workOn, lost func(), compute func(stop func() bool) (T, error)) (T, error) {
	var none T
	left := g.budget - g.spent
	switch {
	case g.refuses(of) != nil:
		return none, g.refuses(of)
	case g.abandoned.Load() >= maxAbandoned:
		return none, errManyRun
	case left <= 0:
		return none, errNoTime
	}
	begin := time.Now()
	type result struct {
		found T
		err   error
		panic *panicOf
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if cause := recover(); cause != nil {
				r.panic = newPanic(cause)
			}
			done <- r
		}()
		if g.inject != nil {
			g.inject(of, true)
		}
		r.found, r.err = compute(func() bool { return time.Since(begin) > left })
	}()
	var late <-chan time.Time
	if g.budget < unlimitedTime {
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
				return none, errNoTime // it was others that took the time
			}
			g.holdBack(of, errTooSlow)
			return none, errTooSlow
		}
		g.release(of)
		return r.found, r.err
	case <-late:
		g.spent += time.Since(begin)
		metrics.CountStoppedSearch(metrics.SearchAbandoned)
		g.abandoned.Add(1)
		metrics.AddAbandonedSearches(1)
		abandoned := g.abandoned
		go func() {
			<-done
			abandoned.Add(-1)
			metrics.AddAbandonedSearches(-1)
		}()
		lost()
		g.holdBack(of, errTooSlow)
		return none, errTooSlow
	}
}

// panicOf is a panic: its cause, where it happened and the stack.
type panicOf struct {
	cause any
	where string
	stack string
}

// newPanic is called by the deferred function that recovered.
func newPanic(cause any) *panicOf {
	return &panicOf{cause: cause, where: panicPlace(), stack: string(debug.Stack())}
}

// panicPlace is the line that panicked: the first one above the runtime's last panic.
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

// panicked counts a panic, logs its stack if it is the first at its place, and holds the work back.
func (g *guard) panicked(of workOn, p *panicOf) error {
	metrics.CountPanic(of.part)
	if g.isNew(p.where) {
		klog.ErrorS(fmt.Errorf("panic: %v", p.cause), "The plugin panicked; its stack is logged once", "part", of.part, "job", of.job, "at", p.where, "stack", p.stack)
	}
	err := fmt.Errorf("%w (at %s)", errPanicked, p.where)
	g.holdBack(of, err)
	return err
}

// guarded runs what writes about a job. A panic ends it and nothing else.
func (p *plugin) guarded(job *api.JobInfo, work func()) {
	of := workOn{metrics.PartText, job.UID}
	if p.guard.refuses(of) != nil {
		return
	}
	_ = p.guard.recovered(of, func() error { // it is logged and counted
		work()
		return nil
	})
}

// lost gives a network up that a failed search has, or has left in no known state, and what was worked out in it. It is
// read anew at once: what was asked about the session before holds, as the same nodes get the same numbers.
func (c *course) lost() {
	c.network = c.newNetwork()
	c.followed = false
	c.preferences = newPreferences(c.ssn)
	c.templates = newTemplates(c.ssn.Tiers)
	clear(c.plans)
	clear(c.suits)
	if _, err := c.topology(); err != nil {
		klog.ErrorS(err, "Failed to read the network again")
	}
}

// rollback takes back what was changed in a tree, unless the tree was given up.
func (c *course) rollback(t *placement.Topology, mark int) {
	if c.network.Topology() == t {
		t.Rollback(mark)
	}
}
