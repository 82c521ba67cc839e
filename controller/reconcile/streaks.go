// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"maps"
	"strings"
	"sync"
	"time"
)

// streakGap is how long nothing of a streak may be seen before it is over: several command periods, because a controller
// with much to do comes late.
const streakGap = 2 * time.Minute

// streaks remember for how long something has been seen again and again, by a key.
type streaks struct {
	mu   sync.Mutex
	seen map[string]streak
}

type streak struct{ first, last time.Time }

func newStreaks() *streaks { return &streaks{seen: map[string]streak{}} }

// add notes that it is seen now.
func (s *streaks) add(key string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[key]
	if !ok || now.Sub(known.last) > streakGap {
		known.first = now
	}
	known.last = now
	s.seen[key] = known
}

// length is how long ago the present streak began, 0 if there is none.
func (s *streaks) length(key string, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.seen[key]
	if !ok || now.Sub(known.last) > streakGap {
		return 0
	}
	return now.Sub(known.first)
}

// forgetAbout forgets every key in which the text occurs.
func (s *streaks) forgetAbout(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.seen, func(key string, _ streak) bool { return strings.Contains(key, text) })
}

func (s *streaks) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
