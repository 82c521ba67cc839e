// SPDX-License-Identifier: Apache-2.0

package placement

// limits that may be lifted: the nearest higher tier, or none; colocation; both, if neither is enough.
func (x *relaxing) limits() (found []Relaxation) {
	if x.d.limited() {
		found = append(found, x.higher(HigherTier)...)
	}
	if x.d.colocated() {
		if r := (Relaxation{Change: PreferColocation}); x.possible(x.decisive()) && x.works(&r) {
			found = append(found, r)
		}
	}
	if len(found) == 0 && x.d.limited() && x.d.colocated() {
		found = x.higher(BothLimits)
	}
	return found
}

// higher looks for the nearest tier.
func (x *relaxing) higher(change Change) []Relaxation {
	for tier := x.d.HighestTier + 1; tier <= len(x.t.tiers); tier++ {
		r := Relaxation{Change: change, HighestTier: tier}
		if tier == len(x.t.tiers) {
			r.HighestTier = 0
		}
		if x.possible(tier) && x.works(&r) {
			return []Relaxation{r}
		}
	}
	return nil
}

// possible says whether sums leave it open that some domain of a tier holds the gang; it saves solving.
func (x *relaxing) possible(tier int) bool {
	lo, hi := x.t.Domains(tier)
	for v := lo; v < hi; v++ {
		if x.bound(v) == x.total {
			return true
		}
	}
	return false
}
