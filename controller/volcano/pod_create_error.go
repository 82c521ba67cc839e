// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"regexp"
	"strconv"
)

// statusMessage is the message of an API server's answer within the %#v of the error that it became.
var statusMessage = regexp.MustCompile(`Message:("(?:[^"\\]|\\.)*")`)

// PodCreateError takes the API server's sentence about the first pod out of what Volcano's Job controller writes when pods are
// refused: the Go syntax of all errors (volcano pkg/controllers/job/job_controller_actions.go, "Error creating pods"). False
// for any other message.
func PodCreateError(message string) (string, bool) {
	found := statusMessage.FindStringSubmatch(message)
	if found == nil {
		return "", false
	}
	sentence, err := strconv.Unquote(found[1])
	return sentence, err == nil && sentence != ""
}
