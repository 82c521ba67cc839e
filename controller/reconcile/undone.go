// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// ReasonChangedByAdmission stalls a job of which a mutating webhook or policy changes what the controller writes.
const ReasonChangedByAdmission = "ChangedByAdmission"

// undoneFor is how long a write is not repeated that admission has undone.
const undoneFor = time.Minute

// undone remembers the writes that admission has undone, by PaddleJob and kind of write.
type undone struct {
	mu     sync.Mutex
	writes map[string]undoneWrite
}

type undoneWrite struct {
	refused *refusal
	at      time.Time
}

func newUndone() *undone { return &undone{writes: map[string]undoneWrite{}} }

func (u *undone) put(key string, refused *refusal, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.writes[key] = undoneWrite{refused: refused, at: now}
}

// of is how a write was undone last, nil if it was not, and whether that was less than undoneFor ago.
func (u *undone) of(key string, now time.Time) (refused *refusal, lately bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	write := u.writes[key]
	return write.refused, write.refused != nil && now.Sub(write.at) < undoneFor
}

func (u *undone) forget(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.writes, key)
}

// forgetJob forgets the writes for a PaddleJob.
func (u *undone) forgetJob(job string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.writes, func(key string, _ undoneWrite) bool { return strings.HasPrefix(key, job+" ") })
}

// unlessUndone writes, unless admission has undone the same write lately.
func (c *Controller) unlessUndone(key string, write func() error) error {
	if refused, lately := c.undone.of(key, c.now()); lately {
		return refused
	}
	err := write()
	var refused *refusal
	switch {
	case err == nil:
		c.undone.forget(key)
	case errors.As(err, &refused) && refused.reason == ReasonChangedByAdmission:
		c.undone.put(key, refused, c.now())
	}
	return err
}

// changedByAdmission is the refusal of an object whose field is not as it was written, nil if the field is "".
func changedByAdmission(kind, name, field string) error {
	if field == "" {
		return nil
	}
	return &refusal{reason: ReasonChangedByAdmission, text: fmt.Sprintf(
		"admission changes %s of the %s %s, which the controller has to set: exempt this object from the mutating webhook or policy that does so",
		field, kind, name)}
}

// changedEntry names the first entry of a map of metadata that is not as it was written, "" if all are.
func changedEntry(field string, written, have map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(written)) {
		if value, ok := have[key]; !ok || value != written[key] {
			return fmt.Sprintf("%s[%s]", field, key)
		}
	}
	return ""
}

// ours are the entries whose keys are the controller's own; what else users give their jobs may be changed on the way.
func ours(entries map[string]string) map[string]string {
	own := maps.Clone(entries)
	maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, keys.Prefix) })
	return own
}
