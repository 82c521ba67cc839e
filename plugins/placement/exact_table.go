// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// table is the best value of each state that is possible below one domain.
type table struct {
	domain DomainID
	states []int32 // ascending
	values []value
	base   []int32 // members placed before, of each class; nil for none
	parts  []*table
	splits []split // of each part but the first
}

// split says, for each state of a part and its elder siblings, which of it is the part's.
type split struct {
	states, own []int32
}

// joined is the best way found so far to split a state.
type joined struct {
	value value
	own   int32
}

// merge adds a child's table to that of its elder siblings.
func (x *exact) merge(t, child *table) {
	t.parts = append(t.parts, child)
	if len(t.parts) == 1 {
		t.states, t.values, t.base = child.states, child.values, child.base
		return
	}
	x.join(t, child)
	t.base = sumRows(t.base, child.base)
	tier := x.p.t.TierOf(child.domain)
	s := split{make([]int32, 0, len(x.found)), make([]int32, 0, len(x.found))}
	t.values = make([]value, 0, len(x.found))
	for state, at := range x.place {
		if at == 0 {
			continue
		}
		x.place[state] = 0
		found := &x.found[at-1]
		if x.bounded() && found.value.bytes+x.rest(t.base, state, tier) > x.bound {
			continue
		}
		s.states, s.own = append(s.states, int32(state)), append(s.own, found.own)
		t.values = append(t.values, found.value)
	}
	t.states, t.splits = s.states, append(t.splits, s)
}

// join looks at all pairs of states of a child and of its elder siblings.
func (x *exact) join(t, child *table) {
	x.found = x.found[:0]
	last := len(x.p.kinds) - 1
	for i, a := range t.states {
		x.p.stop.count(len(child.states))
		room := x.p.kinds[last].count - x.digit(a, last)
		for j, b := range child.states {
			s := int(a + b)
			if s >= x.states || x.digit(b, last) > room {
				break // those to come have as many of the last kind, or more
			}
			x.work--
			bytes := t.values[i].bytes + child.values[j].bytes
			at := x.place[s]
			if bytes > x.bound || at > 0 && !x.byBusy && bytes > x.found[at-1].value.bytes || !x.together(a, b) {
				continue
			}
			v := t.values[i].plus(child.values[j])
			if x.anyBusy {
				v.busy = 0
			}
			switch {
			case at == 0:
				x.found = append(x.found, joined{v, b})
				x.place[s] = int32(len(x.found))
			case v.less(x.found[at-1].value, x.byBusy):
				x.found[at-1] = joined{v, b}
			}
		}
		if x.work < 0 {
			return
		}
	}
}

func (x *exact) digit(state int32, k int) int32 { return x.digits[int(state)*len(x.p.kinds)+k] }

// together says whether two states are no more than everything.
func (x *exact) together(a, b int32) bool {
	for k := range x.p.kinds {
		if x.digit(a, k)+x.digit(b, k) > x.p.kinds[k].count {
			return false
		}
	}
	return true
}

// border adds the cost of a domain's own uplink, and takes out what it may not hold.
func (x *exact) border(t *table, tier int) {
	kinds := len(x.p.kinds)
	states, values := make([]int32, 0, len(t.states)), t.values[:0]
	for i, s := range t.states {
		count := x.digits[int(s)*kinds : (int(s)+1)*kinds]
		row := x.rowOf(t.domain, count)
		own := x.p.uplink(t.domain, tier, row)
		if x.allowed(tier, int(s), row, count) && own.busy <= x.limit {
			states, values = append(states, s), append(values, t.values[i].plus(own))
		}
	}
	t.states, t.values, t.base = states, values, x.base[t.domain]
}

// read follows the splits down from a state.
func (x *exact) read(t *table, state int32, nodes []NodeID, counts []int32) {
	if len(t.parts) == 0 {
		kinds := len(x.p.kinds)
		i, _ := slices.BinarySearch(nodes, NodeID(t.domain))
		copy(counts[i*kinds:(i+1)*kinds], x.digits[int(state)*kinds:])
		return
	}
	for i := len(t.parts) - 1; i > 0; i-- {
		s := &t.splits[i-1]
		at, _ := slices.BinarySearch(s.states, state)
		x.read(t.parts[i], s.own[at], nodes, counts)
		state -= s.own[at]
	}
	x.read(t.parts[0], state, nodes, counts)
}
