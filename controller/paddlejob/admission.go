// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// ReasonChangedByAdmission stalls a job of which a mutating webhook or policy changes what the controller writes.
const ReasonChangedByAdmission = "ChangedByAdmission"

// revertedWritePeriod is how long a write is not repeated that admission has undone.
const revertedWritePeriod = time.Minute

// revertedWrites remembers the writes that admission has undone, by PaddleJob and kind of write.
type revertedWrites struct {
	mu     sync.Mutex
	writes map[string]revertedWrite
}

type revertedWrite struct {
	refused *rejection
	at      time.Time
}

func newRevertedWrites() *revertedWrites { return &revertedWrites{writes: map[string]revertedWrite{}} }

func (u *revertedWrites) put(key string, refused *rejection, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.writes[key] = revertedWrite{refused: refused, at: now}
}

// of is how a write was undone last, nil if it was not, and whether that was less than undoneFor ago.
func (u *revertedWrites) of(key string, now time.Time) (refused *rejection, lately bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	write := u.writes[key]
	return write.refused, write.refused != nil && now.Sub(write.at) < revertedWritePeriod
}

func (u *revertedWrites) forget(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.writes, key)
}

// forgetJob forgets the writes for a PaddleJob.
func (u *revertedWrites) forgetJob(job string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	maps.DeleteFunc(u.writes, func(key string, _ revertedWrite) bool { return strings.HasPrefix(key, job+" ") })
}

// unlessReverted writes, unless admission has undone the same write lately.
func (c *Controller) unlessReverted(key string, write func() error) error {
	if refused, lately := c.revertedWrites.of(key, c.now()); lately {
		return refused
	}
	err := write()
	var refused *rejection
	switch {
	case err == nil:
		c.revertedWrites.forget(key)
	case errors.As(err, &refused) && refused.reason == ReasonChangedByAdmission:
		c.revertedWrites.put(key, refused, c.now())
	}
	return err
}

// changedByAdmission is the refusal of an object whose field is not as it was written, nil if the field is "".
func changedByAdmission(kind, name, field string) error {
	if field == "" {
		return nil
	}
	return &rejection{reason: ReasonChangedByAdmission, text: fmt.Sprintf(
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
	maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, v1.Prefix) })
	return own
}

// ReasonRefused stalls a job of which the API server, a webhook or a quota refuses a part.
const ReasonRefused = "RefusedByServer"

// rejection is an answer of the API server that only a change by the user can turn; it is tried again all the same,
// because a quota or a webhook's mind can change too.
type rejection struct {
	reason string
	text   string
	cause  error
}

func (r *rejection) Error() string { return r.text }
func (r *rejection) Unwrap() error { return r.cause }

// rejectionOr makes a refusal of an error that is one, and leaves every other as it is.
func rejectionOr(err error) error {
	if workers.Refused(err) {
		return &rejection{reason: ReasonRefused, text: err.Error(), cause: err}
	}
	return err
}
