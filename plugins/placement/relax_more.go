// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// moreDomains is how many domains are tried, those that need least.
const moreDomains = 3

// more that is free in one domain: the domain of the tier that decides that needs least, ties by name. There, each member
// that has no room gets it where least is short, one after the other; the least number of these steps that works is taken.
// Where workers must have a server near, the gang may also come together in one domain of that tier, if no node would
// then have more free than any node has now.
func (x *relaxing) more() []Relaxation {
	if x.apart > 1 {
		return nil
	}
	lo, hi := x.domains(x.decisive())
	if found := x.moreIn(lo, hi, func(*refill) bool { return true }); found != nil {
		return found
	}
	if near := x.d.colocationTier(); x.d.colocated() && near < x.decisive() {
		lo, hi = x.domains(near)
		largest := x.largest()
		return x.moreIn(lo, hi, func(r *refill) bool { return r.within(largest) })
	}
	return nil
}

// moreIn tries the best of a range of domains.
func (x *relaxing) moreIn(lo, hi DomainID, allowed func(*refill) bool) []Relaxation {
	for _, refill := range x.refills(lo, hi, allowed) {
		var best Relaxation
		if smallest(len(refill.steps), len(refill.steps), func(n int) bool {
			r := refill.relaxation(n)
			works := x.works(&r)
			if works {
				best = r
			}
			return works
		}) > 0 {
			return []Relaxation{best}
		}
	}
	return nil
}

// refills of the domains that need least, best first. A domain is left out once it needs more than the ones found.
func (x *relaxing) refills(lo, hi DomainID, allowed func(*refill) bool) (best []*refill) {
	type candidate struct {
		domain DomainID
		short  lack
	}
	all := make([]candidate, 0, hi-lo)
	for v := lo; v < hi; v++ {
		all = append(all, candidate{v, x.lackOf(v)})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.short.compare(b.short), cmp.Compare(a.domain, b.domain)) })
	for work := refillWork; len(all) > 0 && work > 0; all = all[1:] {
		var worst *refill
		if len(best) == moreDomains {
			if worst = best[moreDomains-1]; all[0].short.compare(worst.short) > 0 {
				break
			}
		}
		x.stop.atOnce()
		r := x.refillOf(all[0].domain, worst, &work)
		if r == nil || !allowed(r) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, (*refill).compare)
		best = slices.Insert(best, at, r)
		best = best[:min(len(best), moreDomains)]
	}
	return best
}

// largest amount of each resource that is free on any node.
func (x *relaxing) largest() []int64 {
	most := make([]int64, len(x.t.resources))
	for n := range x.t.Nodes() {
		for r, free := range x.t.Free(DomainID(n)) {
			most[r] = max(most[r], free)
		}
	}
	return most
}
