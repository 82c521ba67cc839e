// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"sync"
	"time"
)

// writes remembers when something was last written, by a key: each PaddleJob's status, and commands to Volcano.
type writes struct {
	mu   sync.Mutex
	last map[string]time.Time
}

func newWrites() *writes { return &writes{last: map[string]time.Time{}} }

func (w *writes) at(key string, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last[key] = now
}

func (w *writes) forget(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.last, key)
}

// wait is how much longer a change has to wait that may follow the last write after delay.
func (w *writes) wait(key string, delay time.Duration, now time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	last, ok := w.last[key]
	if !ok {
		return 0
	}
	return max(delay-now.Sub(last), 0)
}
