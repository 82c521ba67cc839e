// SPDX-License-Identifier: Apache-2.0

package placement

import "errors"

// ErrStopped is what Solve and Explain return when Options.Stop ended them.
var ErrStopped = errors.New("the search was stopped")

// stopEvery is how many steps of a search pass between two questions to Options.Stop: some hundred microseconds at most.
const stopEvery = 1 << 12

// stopper asks Options.Stop every so many steps. The searches nest deeply, so it leaves them by a panic with stopped,
// which Solve and Explain turn into ErrStopped.
type stopper struct {
	stop  func() bool
	steps int
}

type stopped struct{}

// count counts steps of a search, and leaves the search if it is to stop.
func (s *stopper) count(steps int) {
	if s.stop == nil {
		return
	}
	if s.steps += steps; s.steps < stopEvery {
		return
	}
	s.steps = 0
	if s.stop() {
		panic(stopped{})
	}
}

// atOnce asks without counting.
func (s *stopper) atOnce() { s.count(stopEvery) }

// catchStop is deferred: it makes ErrStopped of the panic of a stopper. Other panics go on.
func catchStop(err *error) {
	switch cause := recover().(type) {
	case nil:
	case stopped:
		*err = ErrStopped
	default:
		panic(cause)
	}
}
