// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"errors"
	"time"
)

// Settings of a soak.
type Settings struct {
	// For is how long it lasts; no round begins later.
	For time.Duration
	// Round is how long operations are drawn in each round; less where a soak is so short that it would have but one.
	Round time.Duration
	// Pause is between two operations.
	Pause time.Duration
	// Seed decides what is drawn.
	Seed uint64
	// Jobs is how many there are at most that have not ended, on Nodes simulated nodes.
	Jobs, Nodes int
	// Folder for report.json; the sandbox's state is below it.
	Folder string
	// Patience is how long all jobs may take to end, or to be gone: more than the longest grace of the controller's (Volcano
	// loses a job now and then; controller/paddlejob/lifecycle/forgotten.go).
	Patience time.Duration
}

// Default is what `make soak` runs.
func Default() Settings {
	return Settings{
		For: 30 * time.Minute, Round: 2 * time.Minute, Pause: 150 * time.Millisecond, Seed: 1, Jobs: 25, Nodes: 30,
		Folder: "_output/soak", Patience: 12 * time.Minute,
	}
}

// leastRounds are needed to see whether anything grows.
const leastRounds = 2

func (s *Settings) check() error {
	if s.Jobs < 1 || s.Nodes < 1 {
		return errors.New("jobs and nodes must each be 1 or more")
	}
	if s.For <= 0 || s.Round <= 0 || s.Pause <= 0 || s.Patience <= 0 {
		return errors.New("for, round, pause and patience must each be more than 0")
	}
	s.Round = min(s.Round, s.For/leastRounds)
	return nil
}
