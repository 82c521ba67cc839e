// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"maps"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// mutationTTL bounds how long an object that was made is believed in while the cache does not have it.
const mutationTTL = 5 * time.Second

// mutationCache holds objects as they were written until the cache has seen the write, so that a sync in between neither
// repeats the write nor decides on what was before it.
type mutationCache[T metav1.Object] struct {
	mu      sync.Mutex
	entries map[string]mutation[T]
	now     func() time.Time
}

type mutation[T metav1.Object] struct {
	object T
	// over is the resource version that the write replaced, empty where it created.
	over string
	at   time.Time
}

func newMutationCache[T metav1.Object](now func() time.Time) *mutationCache[T] {
	return &mutationCache[T]{entries: map[string]mutation[T]{}, now: now}
}

// put remembers a write over the object with resource version over.
func (a *mutationCache[T]) put(key string, object T, over string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries[key] = mutation[T]{object: object, over: over, at: a.now()}
}

// forget drops what was written under a key.
func (a *mutationCache[T]) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, key)
}

// newest is the cached object, or the one that was written over exactly that.
func (a *mutationCache[T]) newest(key string, cached T, found bool) (T, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	entry, ok := a.entries[key]
	if !ok {
		return cached, found
	}
	version := ""
	if found {
		version = cached.GetResourceVersion()
	}
	if version != entry.over || a.now().Sub(entry.at) > mutationTTL {
		delete(a.entries, key)
		return cached, found
	}
	return entry.object, true
}

// firstSeen remembers since when something is so, by a key.
type firstSeen struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func newFirstSeen() *firstSeen { return &firstSeen{seen: map[string]time.Time{}} }

// since is how long ago it was first asked for the key, and false the first time.
func (s *firstSeen) since(key string, now time.Time) (time.Duration, bool) {
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
func (s *firstSeen) forgetAbout(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.seen, func(key string, _ time.Time) bool { return strings.Contains(key, text) })
}

func (s *firstSeen) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, key)
}
