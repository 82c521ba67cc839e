// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"cmp"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"
)

// CommandPeriod is how long Volcano may take to do what it was told before it is told again.
const CommandPeriod = 15 * time.Second

// commandVerbs begin the names of commands.
var commandVerbs = map[vcbus.Action]string{
	vcbus.AbortJobAction:     "abort",
	vcbus.CompleteJobAction:  "complete",
	vcbus.RestartJobAction:   "restart",
	vcbus.ResumeJobAction:    "resume",
	vcbus.TerminateJobAction: "terminate",
}

// CommandName is the name of a command to a Volcano Job: always the same for the same occasion, so that one which Volcano
// has not read yet is not given twice.
func CommandName(action vcbus.Action, volcanoJob types.UID, occasion string) string {
	name := cmp.Or(commandVerbs[action], strings.ToLower(string(action))) + "-" + string(volcanoJob)
	if occasion != "" {
		name += "-" + occasion
	}
	return name
}

// JobState is what changes when Volcano does anything with a Volcano Job as a whole, in a text that names the Job by its uid.
func JobState(job *vcbatch.Job) string {
	return fmt.Sprintf("%s %s %d", job.UID, job.Status.State.Phase, job.Status.RetryCount)
}

// trackerGap is how long nothing of a streak may be seen before it is over: several command periods, because a controller
// with much to do comes late.
const trackerGap = 2 * time.Minute

// CommandTracker remember for how long something has been seen again and again, by a key.
type CommandTracker struct {
	mu   sync.Mutex
	seen map[string]unacknowledged
}

type unacknowledged struct{ first, last time.Time }

func NewCommandTracker() *CommandTracker { return &CommandTracker{seen: map[string]unacknowledged{}} }

// add_ notes that it is seen now.
func (s *CommandTracker) Sent(key string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[key]
	if !ok || now.Sub(known.last) > trackerGap {
		known.first = now
	}
	known.last = now
	s.seen[key] = known
}

// UnacknowledgedFor is how long ago the present streak began, 0 if there is none.
func (s *CommandTracker) UnacknowledgedFor(key string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[key]
	if !ok || now.Sub(known.last) > trackerGap {
		return 0
	}
	return now.Sub(known.first)
}

// ForgetAbout forgets every key in which the text occurs.
func (s *CommandTracker) ForgetAbout(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.seen, func(key string, _ unacknowledged) bool { return strings.Contains(key, text) })
}

func (s *CommandTracker) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
