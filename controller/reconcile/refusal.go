// SPDX-License-Identifier: Apache-2.0

package reconcile

import "github.com/paddle-volcano/paddle-volcano/controller/workers"

// ReasonRefused stalls a job of which the API server, a webhook or a quota refuses a part.
const ReasonRefused = "RefusedByServer"

// refusal is an answer of the API server that only a change by the user can turn; it is tried again all the same,
// because a quota or a webhook's mind can change too.
type refusal struct {
	reason string
	text   string
	cause  error
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.cause }

// refusedOr makes a refusal of an error that is one, and leaves every other as it is.
func refusedOr(err error) error {
	if workers.Refused(err) {
		return &refusal{reason: ReasonRefused, text: err.Error(), cause: err}
	}
	return err
}
