// SPDX-License-Identifier: Apache-2.0

// Package bars says of a measured figure what was asked for and whether it was reached. What is measured, and which bars
// there are, is each benchmark's own.
package bars

import (
	"fmt"
	"io"
)

// Bar is one thing that was asked for, and whether it was reached.
type Bar struct {
	Name  string  `json:"name"`
	Is    float64 `json:"is"`
	Limit float64 `json:"limit"`
	// Sign is how Is has to stand to Limit: <=, >= or >.
	Sign string `json:"sign"`
	Met  bool   `json:"met"`
}

// Most is a limit from above.
func Most(name string, is, limit float64) Bar { return Bar{name, is, limit, "<=", is <= limit} }

// Least is a limit from below.
func Least(name string, is, limit float64) Bar { return Bar{name, is, limit, ">=", is >= limit} }

// Above is a limit from below that is itself not enough.
func Above(name string, is, limit float64) Bar { return Bar{name, is, limit, ">", is > limit} }

// Missed is how many were not reached.
func Missed(bars []Bar) int {
	missed := 0
	for _, b := range bars {
		if !b.Met {
			missed++
		}
	}
	return missed
}

// Show prints a table of them, and how many were missed.
func Show(bars []Bar, out io.Writer) error {
	for _, b := range bars {
		word := "met"
		if !b.Met {
			word = "MISSED"
		}
		if _, err := fmt.Fprintf(out, "%-6s  %-78s %12.5g %2s %g\n", word, b.Name, b.Is, b.Sign, b.Limit); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d of %d missed\n", Missed(bars), len(bars))
	return err
}
