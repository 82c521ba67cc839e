// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"strings"
	"time"
)

// Table is the gang's path as text, one span a line, and a line for the whole.
func (s *Stamps) Table() string {
	var text strings.Builder
	line := func(from, to, took, what string) { fmt.Fprintf(&text, "%8s %8s %8s  %s\n", from, to, took, what) }
	at := func(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
	line("FROM", "TO", "TOOK", "WHAT")
	path := s.Path()
	for _, span := range path {
		what := string(span.Phase)
		if span.Note != "" {
			what += " (" + span.Note + ")"
		}
		line(at(span.From), at(span.To), at(span.Took()), what)
	}
	if len(path) > 0 {
		what, all := whole(path)
		line(at(0), at(all), at(all), what)
	}
	return text.String()
}

// whole says how far a path goes, and how long it took.
func whole(path []Span) (what string, took time.Duration) {
	if len(path) == 0 {
		return "nothing was seen", 0
	}
	end := path[len(path)-1]
	if end.Phase == Program {
		return "from creation to the first training step", end.To
	}
	return "from creation, as far as " + string(end.Phase), end.To
}
