// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"sync"
	"time"
)

// departures remembers when Volcano Jobs and their pods were deleted, because Volcano must have forgotten a Job before
// the next of its name is made. Its Job controller drops the old one from its cache by name: at once if the pods went
// first, else by a retry whose delay doubles while pods are left, and which thus comes at most as long after the last
// pod as that came after the Job. A new Job that is there by then is dropped instead, and Volcano never looks at it again
// (processCleanupJob in volcano/pkg/controllers/cache/cache.go, v1.14.1).
type departures struct {
	mu   sync.Mutex
	seen map[string]departure
}

type departure struct{ job, last time.Time }

const (
	// departureMargin is for the time between Volcano's watches and ours.
	departureMargin = 3 * time.Second
	// manyDepartures is when those that are over are thrown out.
	manyDepartures = 1000
)

func newDepartures() *departures { return &departures{seen: map[string]departure{}} }

func (d departure) over() time.Time {
	over := d.last.Add(departureMargin)
	if !d.job.IsZero() && d.last.After(d.job) {
		over = over.Add(d.last.Sub(d.job))
	}
	return over
}

// ofJob notes that the Volcano Job of a PaddleJob's name was deleted.
func (d *departures) ofJob(key string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= manyDepartures {
		for other, seen := range d.seen {
			if now.After(seen.over()) {
				delete(d.seen, other)
			}
		}
	}
	d.seen[key] = departure{job: now, last: now}
}

// ofPod notes that a pod was deleted whose Volcano Job was before.
func (d *departures) ofPod(key string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen, ok := d.seen[key]; ok {
		seen.last = now
		d.seen[key] = seen
	}
}

// wait is how much longer the next Volcano Job of the name has to wait.
func (d *departures) wait(key string, now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	seen, ok := d.seen[key]
	if !ok {
		return 0
	}
	if left := seen.over().Sub(now); left > 0 {
		return left
	}
	delete(d.seen, key)
	return 0
}
