// SPDX-License-Identifier: Apache-2.0

package placement

import "errors"

// MaxSolves is how often Explain calls Solve at most: once for the demand as it is, and then for each kind of change.
const MaxSolves = 1 + tierSolves + fewerSolves + moreSolves

const (
	tierSolves  = 2*maxTiers + 1
	fewerSolves = 40
	moreSolves  = 26
)

// relaxing looks for changes with which a gang fits.
type relaxing struct {
	*gang
	o      Options
	stop   *stopper
	best   *DomainRoom // of the tier that decides
	solves int
	until  int // no more solves than that for this kind
}

func (x *relaxing) all() []Relaxation {
	var all []Relaxation
	for _, kind := range []struct {
		solves int
		find   func() []Relaxation
	}{{tierSolves, x.limits}, {fewerSolves, x.fewer}, {moreSolves, x.more}} {
		x.until = x.solves + kind.solves
		all = append(all, kind.find()...)
	}
	return all
}

// works says whether the demand fits with a change, and notes the plan.
func (x *relaxing) works(r *Relaxation) bool {
	if x.solves == x.until {
		return false
	}
	x.solves++
	plan, err := r.Try(x.t, x.d, x.o)
	if errors.Is(err, ErrStopped) {
		panic(stopped{})
	}
	r.Plan = plan
	return err == nil
}

// smallest number from 1 to most with which it works, if what works does so with more, too. The search begins at a guess,
// and then beside it, so that a right guess takes two tries.
func smallest(most, guess int, works func(n int) bool) (least int) {
	lo, hi := 1, most
	next := min(max(guess, lo), hi)
	for try := 0; lo <= hi; try++ {
		if works(next) {
			least, hi = next, next-1
		} else {
			lo = next + 1
		}
		switch {
		case try > 0:
			next = lo + (hi-lo)/2
		case least > 0:
			next = hi
		default:
			next = lo
		}
	}
	return least
}
