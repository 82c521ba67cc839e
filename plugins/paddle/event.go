// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"math"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"volcano.sh/apis/pkg/apis/scheduling"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Pauses between two things that are said about one job, in sessions (seconds, as a rule).
const (
	// refreshPause is how long the condition may lag behind, where only its words have changed: numbers change each second.
	refreshPause = 10
	// classPause and wordsPause are the least between two events, where the reason has changed or only the words. Each event
	// about a job doubles both, up to 64 times.
	classPause = 10
	wordsPause = 60
	maxDoubled = 6
	// patience is how long a reason that jobs pass through must last before it is worth an event.
	patience = 5
	// passingAtOnce and passingPause bound the events of all jobs together about such classes: so many, and then one in so many
	// sessions. A thousand jobs that come together all wait for their pods; their conditions say so, and the API server has
	// better to do.
	passingAtOnce = 50
	passingPause  = 2
	// remembered is for how long a job is remembered that is not seen.
	remembered = 60
	// maxRemembered bounds what is remembered. Of jobs beyond it their conditions tell what was said.
	maxRemembered = 20000
	// maxEvent is what the API server takes for an event's message, in bytes.
	maxEvent = 1024
)

// said remembers what was last said about each job that waits, across sessions: its PodGroup may come back late with what
// was written to it. It is safe for concurrent use.
type said struct {
	mu      sync.Mutex
	session int
	jobs    map[types.UID]*saidOf
	limit   int
	passing int // events about passing classes that may be sent, times passingPause

	recorder record.EventRecorder // nil until there is something to say
}

// saidOf is what was said about one job. Times are numbers of sessions.
type saidOf struct {
	event   verdict // of the last event
	at      int     // time of the last event
	events  int
	reason  report.Reason // now
	since   int           // time at which it became that
	written int           // time at which the condition was last written
	seen    int
}

const longAgo = math.MinInt32

func newSaid() *said {
	return &said{jobs: map[types.UID]*saidOf{}, limit: maxRemembered, passing: passingAtOnce * passingPause}
}

// next begins a session: it forgets jobs that were not seen for a while.
func (s *said) next() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session++
	s.passing = min(s.passing+1, passingAtOnce*passingPause)
	for id, job := range s.jobs {
		if s.session-job.seen > remembered {
			delete(s.jobs, id)
		}
	}
}

// of is what was said about a job; of one that is not remembered, what its condition says.
func (s *said) of(id types.UID, had scheduling.PodGroupCondition) *saidOf {
	job, ok := s.jobs[id]
	if !ok {
		job = &saidOf{at: longAgo, written: longAgo, since: s.session}
		if had.Status == corev1.ConditionFalse {
			job.event, job.reason = verdictIn(had), report.Reason(had.Reason)
		}
		if len(s.jobs) < s.limit {
			s.jobs[id] = job
		} else {
			job.at, job.written = s.session, s.session // no events, and a condition for each reason
		}
	}
	job.seen = s.session
	return job
}

// write tells whether a condition is to be written in place of the one that a PodGroup has. Where a gang is changes only when
// pods are placed, and nobody says it again later.
func (s *said) write(id types.UID, had, now scheduling.PodGroupCondition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.of(id, had)
	moved := now.Status == corev1.ConditionTrue && verdictIn(had) != verdictIn(now)
	onlyWords := had.Status == now.Status && had.Reason == now.Reason && !moved
	if sameWords(had, now) || onlyWords && s.session-job.written < refreshPause {
		return false
	}
	job.written = s.session
	return true
}

// tell tells whether an event is due that a job waits.
func (s *said) tell(id types.UID, had scheduling.PodGroupCondition, v verdict) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.of(id, had)
	if job.reason != v.reason {
		job.reason, job.since = v.reason, s.session
	}
	pause := classPause
	if job.event.reason == v.reason {
		pause = wordsPause
	}
	switch quiet := s.session - job.at; {
	case job.event.reason == v.reason && job.event.text == v.text:
		return false
	case v.reason.Transient() && s.session-job.since < patience:
		return false
	case quiet < pause<<min(max(0, job.events-1), maxDoubled):
		return false
	case v.reason.Transient() && s.passing < passingPause:
		return false
	}
	if v.reason.Transient() {
		s.passing -= passingPause
	}
	job.event, job.at = v, s.session
	job.events++
	return true
}

// tellPlaced tells whether an event is due that a job has its nodes: where there was one that it waits.
func (s *said) tellPlaced(id types.UID, had scheduling.PodGroupCondition) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	job := s.of(id, had)
	waited := job.event.reason != "" && job.event.reason != report.Placed
	job.event, job.reason, job.since = verdict{reason: report.Placed}, report.Placed, s.session
	return waited
}
