// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"maps"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// memory holds what is remembered from one sync to the next, by a key. Its zero value is empty. It is safe for concurrent use; a
// value that only the syncs of one job change can be read and put back, because the queue runs one of them at a time.
type memory[V any] struct {
	mu     sync.Mutex
	values map[string]V
}

func (m *memory[V]) get(key string) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values[key]
	return value, ok
}

func (m *memory[V]) put(key string, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values == nil {
		m.values = map[string]V{}
	}
	m.values[key] = value
}

// update changes a value that is there.
func (m *memory[V]) update(key string, change func(V) V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		m.values[key] = change(value)
	}
}

func (m *memory[V]) forget(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, key)
}

func (m *memory[V]) forgetIf(over func(key string, value V) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.values, over)
}

// firstSeen records when something was first seen.
type firstSeen struct{ memory[time.Time] }

// since returns how long ago it was first called with the key, and false the first time.
func (s *firstSeen) since(key string, now time.Time) (time.Duration, bool) {
	first, ok := s.get(key)
	if !ok {
		s.put(key, now)
		return 0, false
	}
	return now.Sub(first), true
}

// mutationTTL bounds how long an object that was written is used while the cache does not have it.
const mutationTTL = 5 * time.Second

// mutationCache holds objects as they were written until the cache has seen the write, so that a sync in between neither
// repeats the write nor decides on what was before it.
type mutationCache[T metav1.Object] struct{ memory[mutation[T]] }

type mutation[T metav1.Object] struct {
	object T
	// over is the resource version that the write replaced, empty where it created.
	over string
	at   time.Time
}

// newest is the cached object, or the one that was written where the cache does not have the write yet. Then the cache has the
// object that was replaced, or an older one: a watch that is late shows even one that was deleted before.
func (c *mutationCache[T]) newest(key string, cached T, found bool, now time.Time) (T, bool) {
	entry, ok := c.get(key)
	if !ok {
		return cached, found
	}
	seen := entry.over != ""
	if found {
		version := cached.GetResourceVersion()
		seen = version != entry.over && !older(version, entry.object.GetResourceVersion())
	}
	if seen || now.Sub(entry.at) > mutationTTL {
		c.forget(key)
		return cached, found
	}
	return entry.object, true
}

// older compares resource versions of one resource, which are numbers that only increase (Kubernetes KEP-5504). It is false for others.
func older(version, than string) bool {
	a, errA := strconv.ParseUint(version, 10, 64)
	b, errB := strconv.ParseUint(than, 10, 64)
	return errA == nil && errB == nil && a < b
}

// forgetDeleted forgets an object that was deleted, and no later one of its name.
func (c *mutationCache[T]) forgetDeleted(object metav1.Object) {
	key := keyOf(object)
	if entry, ok := c.get(key); ok && entry.object.GetUID() == object.GetUID() {
		c.forget(key)
	}
}
