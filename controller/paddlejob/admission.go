// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/workers"
)

// ReasonChangedByAdmission stalls a job of which a mutating webhook or policy changes what the controller writes.
const ReasonChangedByAdmission = "ChangedByAdmission"

// revertedWritePeriod is how long a write is not repeated that admission has undone.
const revertedWritePeriod = time.Minute

// revertedWrite is how and when admission undid a write last.
type revertedWrite struct {
	refused *rejection
	at      time.Time
}

// unlessReverted writes, unless admission has undone the same write lately.
func (c *Controller) unlessReverted(key string, write func() error) error {
	if last, ok := c.revertedWrites.get(key); ok && c.now().Sub(last.at) < revertedWritePeriod {
		return last.refused
	}
	err := write()
	var refused *rejection
	switch {
	case err == nil:
		c.revertedWrites.forget(key)
	case errors.As(err, &refused) && refused.reason == ReasonChangedByAdmission:
		c.revertedWrites.put(key, revertedWrite{refused: refused, at: c.now()})
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

// ownKeys returns the entries whose keys are the controller's own; admission may change the other entries, which users set.
func ownKeys(entries map[string]string) map[string]string {
	own := maps.Clone(entries)
	maps.DeleteFunc(own, func(key, _ string) bool { return !strings.HasPrefix(key, v1.Prefix) })
	return own
}

// ReasonRefused stalls a job of which the API server, a webhook or a quota refuses a part.
const ReasonRefused = "RefusedByServer"

// rejection is an answer of the API server that stays until the user changes something; the write is retried all the
// same, because a quota or a webhook can change too.
type rejection struct {
	reason string
	text   string
	cause  error
}

func (r *rejection) Error() string { return r.text }
func (r *rejection) Unwrap() error { return r.cause }

// rejectionOr returns an error that is a refusal as a rejection, and every other as it is.
func rejectionOr(err error) error {
	if workers.Refused(err) {
		return &rejection{reason: ReasonRefused, text: err.Error(), cause: err}
	}
	return err
}
