// SPDX-License-Identifier: Apache-2.0

package soak

// Report is what report.json holds.
type Report struct {
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	// Made is how many jobs there were.
	Made       int            `json:"jobs"`
	Operations map[string]int `json:"operations"`
	Rounds     []Round        `json:"rounds"`
	// Broken is what was not as it should be.
	Broken []string `json:"broken"`
}

// Round is what a round left.
type Round struct {
	// Phases counts the jobs by their phase when all had come to an end; those that were gone by then are in none.
	Phases map[string]int `json:"phases"`
	// Drained and Emptied are how long it took until all had ended, and until all were gone.
	Drained float64 `json:"drained_s"`
	Emptied float64 `json:"emptied_s"`
	// Sizes are those of the programs when nothing was left, by component.
	Sizes map[string]Size `json:"sizes"`
}
