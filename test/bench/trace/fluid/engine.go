// SPDX-License-Identifier: Apache-2.0

package fluid

import (
	"math"
	"slices"
)

// Engine lets jobs run in virtual time. Whenever one starts or ends, the steps of all take another time from then on.
type Engine struct {
	bandwidth []float64
	now       float64
	// running in the order of their starts.
	running []*progress
	// stale says that a job with loads has started or ended since the steps were worked out.
	stale bool
}

// progress of one job: at now it has left steps to do, which take step seconds each.
type progress struct {
	Job
	id         int
	left, step float64
	// at is when the job ends if nothing changes.
	at float64
}

// NewEngine has links of these bandwidths, in bytes per second, and begins at a time.
func NewEngine(bandwidth []float64, now float64) *Engine {
	return &Engine{bandwidth: bandwidth, now: now}
}

// Start lets a job run from now on. The id is the caller's.
func (e *Engine) Start(id int, job Job, steps float64) {
	p := &progress{Job: job, id: id, left: steps, step: job.Compute}
	p.at = e.now + p.left*p.step
	e.running = append(e.running, p)
	e.stale = e.stale || len(job.Loads) > 0
}

// Next is when the next job ends if none starts before; infinity if none runs.
func (e *Engine) Next() float64 {
	e.settle()
	next := math.Inf(1)
	for _, p := range e.running {
		next = min(next, p.at)
	}
	return next
}

// Advance goes on to a time, at most that of Next, and gives the jobs that have ended by then, in the order of their starts.
func (e *Engine) Advance(to float64) (ended []int) {
	e.settle()
	e.running = slices.DeleteFunc(e.running, func(p *progress) bool {
		if p.at <= to {
			ended = append(ended, p.id)
			e.stale = e.stale || len(p.Loads) > 0
			return true
		}
		return false
	})
	for _, p := range e.running {
		p.left = (p.at - to) / p.step
	}
	e.now = to
	return ended
}

// Computing is the share of its time that each running job computes, by id.
func (e *Engine) Computing(each func(id int, share float64)) {
	e.settle()
	for _, p := range e.running {
		each(p.id, 1-share(p.step, p.Compute))
	}
}

// Left is how many steps a job still has to do, and whether it runs.
func (e *Engine) Left(id int) (steps float64, running bool) {
	for _, p := range e.running {
		if p.id == id {
			return p.left, true
		}
	}
	return 0, false
}

// settle works out the steps anew if the jobs are others. Jobs without loads keep their own pace and slow nobody down.
func (e *Engine) settle() {
	if !e.stale {
		return
	}
	e.stale = false
	var jobs []Job
	var sending []*progress
	for _, p := range e.running {
		if len(p.Loads) > 0 {
			jobs, sending = append(jobs, p.Job), append(sending, p)
		}
	}
	for i, step := range Steps(e.bandwidth, jobs) {
		p := sending[i]
		p.step = step
		p.at = e.now + p.left*step
	}
}
