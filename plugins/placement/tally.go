// SPDX-License-Identifier: Apache-2.0

package placement

// tally sums over some domains of a topology, without a walk over all of them. It borrows the topology's numbers; close
// gives them back.
type tally struct {
	t       *Topology
	number  []int32 // of each domain: its place + 1, or 0
	domains []DomainID
	sums    []int64
}

func newTally(t *Topology) *tally { return &tally{t: t, number: t.borrow()} }

// borrow gives as many zeros as there are domains. A board or a tally that is done gives them back.
func (t *Topology) borrow() []int32 {
	numbers := t.numbers
	if numbers == nil {
		return make([]int32, len(t.parent))
	}
	t.numbers = nil
	return numbers
}

func (a *tally) add(d DomainID, n int64) {
	place := a.number[d]
	if place == 0 {
		a.domains = append(a.domains, d)
		a.sums = append(a.sums, 0)
		place = int32(len(a.domains))
		a.number[d] = place
	}
	a.sums[place-1] += n
}

func (a *tally) of(d DomainID) int64 {
	if place := a.number[d]; place > 0 {
		return a.sums[place-1]
	}
	return 0
}

func (a *tally) close() {
	for _, d := range a.domains {
		a.number[d] = 0
	}
	a.t.numbers = a.number
}
