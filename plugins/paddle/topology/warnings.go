// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"fmt"
	"strconv"
	"strings"
)

// maxExamples of one kind of warning are named.
const maxExamples = 3

// warning is one kind of what was missing or contradictory.
type warning struct {
	what     string
	examples []string // all of them
	of       int      // how many there could be, 0 if that is not known
}

// String counts the examples and names the first few.
func (w warning) String() string {
	if len(w.examples) == 0 {
		return w.what
	}
	count := strconv.Itoa(len(w.examples))
	if w.of > 0 {
		count += " of " + strconv.Itoa(w.of)
	}
	shown := w.examples[:min(len(w.examples), maxExamples)]
	named := strings.Join(shown, ", ")
	if more := len(w.examples) - len(shown); more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s: %s (%s)", w.what, count, named)
}

// warned returns a warning if there are examples.
func warned(what string, examples []string, of int) []warning {
	if len(examples) == 0 {
		return nil
	}
	return []warning{{what, examples, of}}
}

func lines(warnings []warning) []string {
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	return lines
}
