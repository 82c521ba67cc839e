// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"sync"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// paceLasts is how long the longest that was seen counts.
const paceLasts = 5 * time.Minute

// pace remembers how Volcano lately ended jobs whose workers have succeeded.
type pace struct {
	mu   sync.Mutex
	ends view.Ends
	// slowestAt is when the slowest was seen.
	slowestAt time.Time
}

// see looks at a job whose workers have succeeded.
func (p *pace) see(v *view.View) {
	if v.VolcanoJob == nil {
		return
	}
	state, workers := v.VolcanoJob.Status.State, v.LastEnd()
	if state.Phase != vcbatch.Completing && state.Phase != vcbatch.Completed || workers.IsZero() {
		return
	}
	ended := state.LastTransitionTime.Time
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ends.Last, p.ends.Newest = later(p.ends.Last, ended), later(p.ends.Newest, workers)
	if v.Now.Sub(ended) > paceLasts {
		return // long ago
	}
	if took := ended.Sub(workers); took >= p.ends.Slowest || v.Now.Sub(p.slowestAt) > paceLasts {
		p.ends.Slowest, p.slowestAt = max(took, 0), v.Now
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// of is what was seen; what was slowest long ago is not.
func (p *pace) of(now time.Time) view.Ends {
	p.mu.Lock()
	defer p.mu.Unlock()
	ends := p.ends
	if now.Sub(p.slowestAt) > paceLasts {
		ends.Slowest = 0
	}
	return ends
}
