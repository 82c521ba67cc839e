// SPDX-License-Identifier: Apache-2.0

package report

import "strings"

// maxMessage bounds the message of a condition, in bytes: PodGroups of thousands of jobs are kept in memory.
const maxMessage = 4096

// Text returns the sentence of conditions and events. Of a gang that does not fit it says with which change it would.
func (r *Report) Text() string {
	if r.Summary != "" {
		return r.Summary
	}
	return r.Sentence()
}

// ConditionMessage returns the message of the PodGroup's condition: the sentence; where a gang runs that has its nodes; and
// its pods beyond the minimum that wait.
func (r *Report) ConditionMessage() string {
	lines := []string{strings.ReplaceAll(r.Text(), "\n", " ")}
	if r.Placement != nil {
		lines = append(append(lines, r.Placement.Sentences()...), r.Placement.details()...)
	}
	message := Shorten(strings.Join(lines, "\n"), maxMessage)
	if r.Surplus != "" {
		message = Shorten(message, maxMessage/2) + "\nwaiting: " + r.Surplus
	}
	return Shorten(message, maxMessage)
}
