// SPDX-License-Identifier: Apache-2.0

package network

import (
	"fmt"
	"strings"
)

// maxExamples of one kind of warning are named.
const maxExamples = 3

// warning is one kind of what was missing or contradictory.
type warning struct {
	what     string // a sentence, with the number of examples already in it
	examples []string
}

func (w warning) String() string {
	if len(w.examples) == 0 {
		return w.what
	}
	shown := w.examples[:min(len(w.examples), maxExamples)]
	text := w.what + ": " + strings.Join(shown, ", ")
	if more := len(w.examples) - len(shown); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func lines(warnings []warning) []string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	return lines
}
