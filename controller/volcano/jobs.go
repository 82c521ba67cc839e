// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"regexp"
	"strconv"
	"sync"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// PodGroupName is the name of the PodGroup that Volcano writes into each pod of a Job.
func PodGroupName(job *vcbatch.Job) string { return job.Name + "-" + string(job.UID) }

// DeletionTracker remembers when Volcano Jobs and their pods were deleted, because Volcano must have forgotten a Job before
// the next of its name is made. Its Job controller drops the old one from its cache by name: at once if the pods went
// first, else by a retry whose delay doubles while pods are left, and which thus comes at most as long after the last
// pod as that came after the Job. A new Job that is there by then is dropped instead, and Volcano never looks at it again
// (processCleanupJob in volcano/pkg/controllers/cache/cache.go, v1.14.1).
type DeletionTracker struct {
	mu   sync.Mutex
	seen map[string]deletion
}

type deletion struct{ job, last time.Time }

const (
	// watchMargin is for the time between Volcano's watches and ours.
	watchMargin = 3 * time.Second
	// maxDeletions is when those that are over are thrown out.
	maxDeletions = 1000
)

// NewDeletionTracker returns a DeletionTracker that has recorded nothing.
func NewDeletionTracker() *DeletionTracker { return &DeletionTracker{seen: map[string]deletion{}} }

func (d deletion) over() time.Time {
	over := d.last.Add(watchMargin)
	if !d.job.IsZero() && d.last.After(d.job) {
		over = over.Add(d.last.Sub(d.job))
	}
	return over
}

// JobDeleted records that the Volcano Job of a PaddleJob's name was deleted.
func (d *DeletionTracker) JobDeleted(key string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) >= maxDeletions {
		for other, seen := range d.seen {
			if now.After(seen.over()) {
				delete(d.seen, other)
			}
		}
	}
	d.seen[key] = deletion{job: now, last: now}
}

// PodDeleted records that a pod was deleted whose Volcano Job was before.
func (d *DeletionTracker) PodDeleted(key string, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if seen, ok := d.seen[key]; ok {
		seen.last = now
		d.seen[key] = seen
	}
}

// Remaining returns how much longer the next Volcano Job of the name has to wait.
func (d *DeletionTracker) Remaining(key string, now time.Time) time.Duration {
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

// statusMessage is the message of an API server's answer within the %#v of the error that it became.
var statusMessage = regexp.MustCompile(`Message:("(?:[^"\\]|\\.)*")`)

// PodCreateError takes the API server's sentence about the first pod out of what Volcano's Job controller writes when pods are
// refused: the Go syntax of all errors (volcano pkg/controllers/job/job_controller_actions.go, "Error creating pods"). False
// for any other message.
func PodCreateError(message string) (string, bool) {
	found := statusMessage.FindStringSubmatch(message)
	if found == nil {
		return "", false
	}
	sentence, err := strconv.Unquote(found[1])
	return sentence, err == nil && sentence != ""
}
