// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// companions says, for one tier and one pair of classes, how many pairs of their members are in one domain at most: of so
// many members of the first class, and of so many of the second.
type companions struct {
	ofA, ofB []int64
}

// bounded says whether a plan is known and something of what the rest of a better one must cost: of flows.
func (x *exact) bounded() bool {
	return x.flows != nil && x.bound < impossible && !x.byBusy
}

// look works out what is known of any plan on the nodes.
func (x *exact) look(nodes []NodeID) {
	f, ok := x.p.traffic.(*flows)
	if !ok || x.p.unit == 0 {
		return
	}
	x.flows = f
	x.near = make([][]companions, len(x.p.t.tiers))
	for tier := NodeTier; tier < len(x.p.t.tiers); tier++ {
		rows := x.capacities(nodes, tier)
		for _, p := range f.pairs {
			x.near[tier] = append(x.near[tier], companions{
				ofA: mostCompanions(rows, p.a, p.b, f.total[p.a]), ofB: mostCompanions(rows, p.b, p.a, f.total[p.b]),
			})
		}
	}
}

// capacities are how many members of each class the domains of a tier can hold, with those placed before.
func (x *exact) capacities(nodes []NodeID, tier int) (rows [][]int64) {
	p := x.p
	at := map[DomainID]int{}
	row := func(d DomainID) []int64 {
		if _, ok := at[d]; !ok {
			at[d] = len(rows)
			rows = append(rows, make([]int64, p.classes))
		}
		return rows[at[d]]
	}
	for _, n := range nodes {
		held := row(p.t.Ancestor(n, tier))
		for k := range p.kinds {
			if class := p.kinds[k].class; class >= 0 {
				held[class] += int64(p.kinds[k].shape.fit[n])
			}
		}
	}
	for d, placed := range x.base {
		if p.t.TierOf(d) == tier {
			for class, n := range placed {
				row(d)[class] += int64(n)
			}
		}
	}
	return rows
}

// mostCompanions fills the domains that hold most of class b with members of class a: for each number of these, how many
// pairs share a domain then.
func mostCompanions(rows [][]int64, a, b int, total int64) []int64 {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(v, w []int64) int { return cmp.Compare(w[b], v[b]) })
	most := make([]int64, 1, total+1)
	for _, row := range rows {
		for range min(row[a], total+1-int64(len(most))) {
			most = append(most, most[len(most)-1]+row[b])
		}
	}
	for int64(len(most)) <= total {
		most = append(most, most[len(most)-1])
	}
	return most
}

// rest is the least priced bytes, up to a tier, of the domains that hold all but a state and the members placed before that
// are with it.
//
// A domain with a and b members of a pair of classes carries aB + bA - 2ab (flows.go). Over the domains of a tier, the first
// two terms sum to the same whatever goes where, and the last one is the number of pairs that share a domain.
func (x *exact) rest(base []int32, state, top int) (sum int64) {
	f := x.flows
	kinds := len(x.p.kinds)
	row := x.row
	clear(row)
	copy(row, base)
	for k, n := range x.digits[state*kinds : (state+1)*kinds] {
		if class := x.p.kinds[k].class; class >= 0 {
			row[class] += n
		}
	}
	for tier := NodeTier; tier <= top; tier++ {
		for i, p := range f.pairs {
			a, b := f.total[p.a]-int64(row[p.a]), f.total[p.b]-int64(row[p.b])
			near := &x.near[tier][i]
			sum += x.p.weights[tier] * p.weight * (a*f.total[p.b] + b*f.total[p.a] - 2*min(a*b, near.ofA[a], near.ofB[b]))
		}
	}
	return sum
}

// sumRows of two rows, of which nil is one of zeros.
func sumRows(a, b []int32) []int32 {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := make([]int32, len(a))
	for i := range a {
		sum[i] = a[i] + b[i]
	}
	return sum
}
