// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Finding is one thing that is wrong with a scheduler's configuration.
type Finding struct {
	// Line of the file, from 1; 0 where it is not known.
	Line int
	// Path of the place in the configuration, such as tiers[0].plugins[2].arguments.effort; "" for the whole.
	Path string
	// Warning tells what is allowed and yet has an effect that few want; everything else is an error.
	Warning bool
	// Text says what is wrong, and what holds or to do instead.
	Text string
}

// String is one line: the kind, the place and the text.
func (f Finding) String() string {
	kind := "error"
	if f.Warning {
		kind = "warning"
	}
	if f.Path == "" {
		return kind + ": " + f.Text
	}
	return fmt.Sprintf("%s: %s: %s", kind, f.Path, f.Text)
}

// Report is what was found out about a file.
type Report struct {
	// Findings in the order of the file.
	Findings []Finding
	// Holds is what the file configures, in a few words.
	Holds string
}

// CheckConfig checks a volcano-scheduler.conf, or a manifest with a ConfigMap that holds one, with the actions and plugins
// that are registered. It needs no cluster, and finds every error at once.
func CheckConfig(file []byte) Report {
	c := &check{}
	c.file(file)
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		if a.Line == 0 || b.Line == 0 {
			return cmp.Compare(b.Line, a.Line) // those without a place come last
		}
		return cmp.Compare(a.Line, b.Line)
	})
	return Report{Findings: c.findings, Holds: strings.Join(c.holds, "; ")}
}

// OK tells that there is no error. There may be warnings.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Warning })
}

// Print writes a line for each finding, which begins with the file's name and the line, and one that sums up.
func (r Report) Print(to io.Writer, name string) error {
	var text strings.Builder
	warnings := 0
	for _, f := range r.Findings {
		if f.Warning {
			warnings++
		}
		if f.Line > 0 {
			fmt.Fprintf(&text, "%s:%d: %v\n", name, f.Line, f)
		} else {
			fmt.Fprintf(&text, "%s: %v\n", name, f)
		}
	}
	if errs := len(r.Findings) - warnings; errs > 0 {
		fmt.Fprintf(&text, "%s: %s, %s\n", name, times(errs, "error"), times(warnings, "warning"))
	} else {
		fmt.Fprintf(&text, "%s: ok, %s: %s\n", name, times(warnings, "warning"), r.Holds)
	}
	_, err := io.WriteString(to, text.String())
	return err
}

// times writes "1 error", "2 errors".
func times(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// check gathers findings.
type check struct {
	findings []Finding
	holds    []string
	// shift is added to the lines of a configuration inside a manifest; unplaced says that they are not known there.
	shift    int
	unplaced bool
}

func (c *check) errorAt(s spot, format string, args ...any) {
	c.add(s, false, format, args...)
}

func (c *check) warnAt(s spot, format string, args ...any) {
	c.add(s, true, format, args...)
}

func (c *check) add(s spot, warning bool, format string, args ...any) {
	f := Finding{Path: s.path, Warning: warning, Text: fmt.Sprintf(format, args...)}
	if s.line > 0 && !c.unplaced {
		f.Line = s.line + c.shift
	}
	c.findings = append(c.findings, f)
}
