// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// assumeFor bounds how long an object that was made is believed in while the cache does not have it.
const assumeFor = 5 * time.Second

// assumed holds objects as they were written until the cache has seen the write, so that a sync in between neither
// repeats the write nor decides on what was before it.
type assumed[T metav1.Object] struct {
	mu      sync.Mutex
	entries map[string]assumption[T]
	now     func() time.Time
}

type assumption[T metav1.Object] struct {
	object T
	// over is the resource version that the write replaced, empty where it created.
	over string
	at   time.Time
}

func newAssumed[T metav1.Object](now func() time.Time) *assumed[T] {
	return &assumed[T]{entries: map[string]assumption[T]{}, now: now}
}

// put remembers a write over the object with resource version over.
func (a *assumed[T]) put(key string, object T, over string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries[key] = assumption[T]{object: object, over: over, at: a.now()}
}

// forget drops what is assumed under a key.
func (a *assumed[T]) forget(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.entries, key)
}

// newest is the cached object, or the one that was written over exactly that.
func (a *assumed[T]) newest(key string, cached T, found bool) (T, bool) {
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
	if version != entry.over || a.now().Sub(entry.at) > assumeFor {
		delete(a.entries, key)
		return cached, found
	}
	return entry.object, true
}
