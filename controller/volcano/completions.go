// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"sync"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// Completions is what was seen of Volcano ending jobs, this and others, whose workers have succeeded.
type Completions struct {
	// Slowest is the longest that it lately took after a job's last worker had ended.
	Slowest time.Duration
	// Last is when it last ended one, the zero time if none was seen.
	Last time.Time
	// Newest is when the last worker ended of the job, among those that it ended, whose did so latest.
	Newest time.Time
}

// latencyWindow is how long the longest that was seen counts.
const latencyWindow = 5 * time.Minute

// CompletionLatency remembers how Volcano lately ended jobs whose workers have succeeded.
type CompletionLatency struct {
	mu          sync.Mutex
	completions Completions
	// slowestAt is when the slowest was seen.
	slowestAt time.Time
}

// Observe records how Volcano ended a job whose last worker ended at workers. A nil job is ignored.
func (p *CompletionLatency) Observe(job *vcbatch.Job, workers, now time.Time) {
	if job == nil {
		return
	}
	state := job.Status.State
	if state.Phase != vcbatch.Completing && state.Phase != vcbatch.Completed || workers.IsZero() {
		return
	}
	ended := state.LastTransitionTime.Time
	p.mu.Lock()
	defer p.mu.Unlock()
	p.completions.Last, p.completions.Newest = later(p.completions.Last, ended), later(p.completions.Newest, workers)
	if now.Sub(ended) > latencyWindow {
		return // long ago
	}
	if took := ended.Sub(workers); took >= p.completions.Slowest || now.Sub(p.slowestAt) > latencyWindow {
		p.completions.Slowest, p.slowestAt = max(took, 0), now
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Recent returns what was observed; a latency that was observed long ago does not count.
func (p *CompletionLatency) Recent(now time.Time) Completions {
	p.mu.Lock()
	defer p.mu.Unlock()
	completions := p.completions
	if now.Sub(p.slowestAt) > latencyWindow {
		completions.Slowest = 0
	}
	return completions
}
