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

// pace remembers how long Volcano lately took to end a job after its last worker had ended.
type pace struct {
	mu    sync.Mutex
	worst time.Duration
	at    time.Time
}

// see looks at a job whose workers have succeeded.
func (p *pace) see(v *view.View) {
	if v.VolcanoJob == nil {
		return
	}
	state := v.VolcanoJob.Status.State
	if state.Phase != vcbatch.Completing && state.Phase != vcbatch.Completed || v.LastEnd().IsZero() {
		return
	}
	took := state.LastTransitionTime.Sub(v.LastEnd())
	if v.Now.Sub(state.LastTransitionTime.Time) > paceLasts {
		return // long ago
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if took >= p.worst || v.Now.Sub(p.at) > paceLasts {
		p.worst, p.at = took, v.Now
	}
}

// of is the longest that was lately seen, 0 if none was.
func (p *pace) of(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now.Sub(p.at) > paceLasts {
		return 0
	}
	return max(p.worst, 0)
}
