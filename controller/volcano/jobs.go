// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"regexp"
	"strconv"
	"time"

	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// PodGroupName is the name of the PodGroup that Volcano writes into each pod of a Job.
func PodGroupName(job *vcbatch.Job) string { return job.Name + "-" + string(job.UID) }

// Deletion is when a Volcano Job and the last of its pods were deleted. Volcano must have forgotten the Job before the next of its
// name is made. Its Job controller drops the old one from its cache by name: at once if the pods went first, else by a retry
// whose delay doubles while pods are left, and which thus comes at most as long after the last pod as that came after the Job. A
// new Job that is there by then is dropped instead, and Volcano never looks at it again (processCleanupJob in
// volcano/pkg/controllers/cache/cache.go, v1.14.1).
type Deletion struct{ Job, LastPod time.Time }

// watchMargin is for the time between Volcano's watches and ours.
const watchMargin = 3 * time.Second

// Remaining returns how much longer the next Volcano Job of the name has to wait.
func (d Deletion) Remaining(now time.Time) time.Duration {
	last := d.Job
	if d.LastPod.After(last) {
		last = d.LastPod.Add(d.LastPod.Sub(d.Job))
	}
	return max(last.Add(watchMargin).Sub(now), 0)
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
