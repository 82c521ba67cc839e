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

// CommandPeriod is how long Volcano may take to obey a command before it is given again.
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

// trackerGap is the time after which a command that is not sent again starts to be counted from the beginning: several command periods, because a controller
// with much to do comes late.
const trackerGap = 2 * time.Minute

// CommandTracker records since when commands are sent without an effect, by a key of the command and the state of its Job.
type CommandTracker struct {
	mu   sync.Mutex
	seen map[string]unacknowledged
}

type unacknowledged struct{ first, last time.Time }

// NewCommandTracker returns a CommandTracker that has recorded nothing.
func NewCommandTracker() *CommandTracker { return &CommandTracker{seen: map[string]unacknowledged{}} }

// Sent records that the command is sent now.
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

// UnacknowledgedFor returns for how long the command has been sent without an effect, 0 if it is not being sent.
func (s *CommandTracker) UnacknowledgedFor(key string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[key]
	if !ok || now.Sub(known.last) > trackerGap {
		return 0
	}
	return now.Sub(known.first)
}

// ForgetAbout removes every key in which the text occurs.
func (s *CommandTracker) ForgetAbout(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.seen, func(key string, _ unacknowledged) bool { return strings.Contains(key, text) })
}

// Forget removes a key.
func (s *CommandTracker) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
