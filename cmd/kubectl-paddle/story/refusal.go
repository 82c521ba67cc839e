// SPDX-License-Identifier: Apache-2.0

package story

import (
	"regexp"
	"strconv"
)

// statusMessage is the message of an API server's answer within the %#v of the error that it became.
var statusMessage = regexp.MustCompile(`Message:("(?:[^"\\]|\\.)*")`)

// refusal takes the API server's sentence out of what Volcano's Job controller writes when pods are refused: the Go syntax of
// all errors (volcano pkg/controllers/job/job_controller_actions.go, "Error creating pods"). Other messages stay as they are.
func refusal(message string) string {
	found := statusMessage.FindStringSubmatch(message)
	if found == nil {
		return message
	}
	said, err := strconv.Unquote(found[1])
	if err != nil || said == "" {
		return message
	}
	return said
}
