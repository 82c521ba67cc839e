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
	// Slice says that less was measured than the bar is for: it is shown, and not judged.
	Slice bool `json:"slice,omitempty"`
}

// Most returns a limit from above.
func Most(name string, is, limit float64) Bar {
	return Bar{Name: name, Is: is, Limit: limit, Sign: "<=", Met: is <= limit}
}

// Least returns a limit from below.
func Least(name string, is, limit float64) Bar {
	return Bar{Name: name, Is: is, Limit: limit, Sign: ">=", Met: is >= limit}
}

// Above returns a limit from below that is itself not enough.
func Above(name string, is, limit float64) Bar {
	return Bar{Name: name, Is: is, Limit: limit, Sign: ">", Met: is > limit}
}

// Whole returns how much was measured, of how much there is to measure.
func Whole(name string, is, all float64) Bar {
	b := Least(name, is, all)
	b.Slice = !b.Met
	return b
}

// OfSlice returns the same bars if whole is true; else they are not judged.
func OfSlice(whole bool, bars ...Bar) []Bar {
	for i := range bars {
		bars[i].Slice = !whole
	}
	return bars
}

// Missed returns how many were judged, and not reached.
func Missed(bars []Bar) int {
	missed := 0
	for _, b := range bars {
		if !b.Met && !b.Slice {
			missed++
		}
	}
	return missed
}

// Sliced returns how many were not judged.
func Sliced(bars []Bar) int {
	sliced := 0
	for _, b := range bars {
		if b.Slice {
			sliced++
		}
	}
	return sliced
}

// Result is met, missed, or slice for a bar that was not checked.
func (b Bar) Result() string {
	switch {
	case b.Slice:
		return "slice"
	case b.Met:
		return "met"
	}
	return "missed"
}

// Show prints a table of them, and how many were missed.
func Show(bars []Bar, out io.Writer) error {
	for _, b := range bars {
		word := b.Result()
		if word == "missed" {
			word = "MISSED"
		}
		if _, err := fmt.Fprintf(out, "%-6s  %-78s %12.5g %2s %g\n", word, b.Name, b.Is, b.Sign, b.Limit); err != nil {
			return err
		}
	}
	if len(bars) == 0 {
		return nil
	}
	text := fmt.Sprintf("%d of %d missed", Missed(bars), len(bars)-Sliced(bars))
	if sliced := Sliced(bars); sliced > 0 {
		text += fmt.Sprintf("; %d not judged, since only a slice of what they are for was measured", sliced)
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
