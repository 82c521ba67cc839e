// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"maps"
	"strings"
	"sync"
	"time"
)

// stamps remembers since when something is so, by a key.
type stamps struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func newStamps() *stamps { return &stamps{seen: map[string]time.Time{}} }

// since is how long ago it was first asked for the key, and false the first time.
func (s *stamps) since(key string, now time.Time) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, ok := s.seen[key]
	if !ok {
		s.seen[key] = now
		return 0, false
	}
	return now.Sub(first), true
}

// forgetAbout forgets every key in which the text occurs.
func (s *stamps) forgetAbout(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.seen, func(key string, _ time.Time) bool { return strings.Contains(key, text) })
}

func (s *stamps) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
