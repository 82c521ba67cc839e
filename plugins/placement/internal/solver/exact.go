// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// maxStates bounds the tables of the exact search.
const maxStates = 1 << 12

// exact finds the best plan on a set of nodes by dynamic programming over the tree.
//
// Costs are sums over domains of a function of how many members of each pod class the domain holds. So the best way to put a
// given state (a count of each pod class) below a domain is the best split of it over the domain's children, independent of
// other domains. Each node's table is computed directly, and tables of siblings are merged one after the other. For nodes n
// and states s that is O(n s^2 / 2^pod classes). The result is optimal for these nodes in bytes, then busiest uplink, then
// penalty, then fragmentation. Where the busiest uplink goes first, a first pass finds how busy it must be, a second one the fewest
// bytes below that. A last pass makes penalty and fragmentation least, however busy other uplinks are than the busiest.
type exact struct {
	p       *problem
	states  int
	digits  []int32 // state-major: how many of each pod class
	base    map[tree.DomainID][]int32
	byBusy  bool
	anyBusy bool    // a last pass: how busy uplinks are below the limit does not matter
	limit   float64 // no uplink may be busier
	bound   int64   // weighted bytes of a plan that is known: what comes to more is not followed
	once    bool    // without the last pass
	work    int     // pairs of states that may still be visited
	row     []int32
	place   []int32 // scratch of merge: of each state, 1 + its place in found
	found   []joined
}

// states that a problem has, or 0 if they are too many.
func (p *problem) states() int {
	states := 1
	for i := range p.podClasses {
		if states *= int(p.podClasses[i].count) + 1; states > maxStates {
			return 0
		}
	}
	return states
}

func newExact(p *problem) *exact {
	x := &exact{p: p, states: p.states(), row: make([]int32, p.classes), limit: math.Inf(1), bound: impossible, work: math.MaxInt}
	kinds := len(p.podClasses)
	x.digits = make([]int32, x.states*kinds)
	size := int32(1)
	for k := range kinds {
		for s := range x.states {
			x.digits[s*kinds+k] = int32(s) / size % (p.podClasses[k].count + 1)
		}
		size *= p.podClasses[k].count + 1
	}
	x.base, x.place = p.baseRows(), make([]int32, x.states)
	return x
}

// baseRows are the members placed before, by domain and class.
func (p *problem) baseRows() map[tree.DomainID][]int32 {
	rows := map[tree.DomainID][]int32{}
	for _, f := range p.fixed {
		for v := tree.DomainID(f.node); v != tree.NoDomain; v = p.t.Parent(v) {
			if rows[v] == nil {
				rows[v] = make([]int32, p.classes)
			}
			if f.class >= 0 {
				rows[v][f.class]++
			}
		}
	}
	return rows
}

// solve returns how many of each pod class go to each of the nodes (ascending by id), node-major; ok is false if nothing fits,
// nothing is as good as what is known, or the work is used up.
func (x *exact) solve(nodes []tree.NodeID) (counts []int32, ok bool) {
	x.byBusy = x.p.byBusy
	root, best := x.whole(nodes)
	if root == nil {
		return nil, false
	}
	if x.byBusy {
		x.byBusy, x.limit = false, best.busy
		if root, best = x.whole(nodes); root == nil {
			return nil, false
		}
	}
	if best.busy > 0 && !x.once {
		x.limit, x.bound, x.anyBusy = best.busy, best.bytes, true
		if root, _ = x.whole(nodes); root == nil {
			return nil, false
		}
	}
	counts = make([]int32, len(nodes)*len(x.p.podClasses))
	x.read(root, int32(x.states-1), nodes, counts)
	return counts, true
}

// whole is the table of all members, and the value of the best plan; nil if there is none.
func (x *exact) whole(nodes []tree.NodeID) (*table, value) {
	root := x.below(x.p.t.Root(), len(x.p.t.Tiers()), nodes)
	last := len(root.states) - 1
	if x.work < 0 || last < 0 || root.states[last] != int32(x.states-1) {
		return nil, value{}
	}
	return root, root.values[last]
}

// below is the table of a domain, from the candidates among its nodes.
func (x *exact) below(d tree.DomainID, tier int, nodes []tree.NodeID) *table {
	if tier == tree.NodeTier {
		return x.node(nodes[0])
	}
	t := &table{domain: d}
	for lo := 0; lo < len(nodes); {
		child := x.p.t.Ancestor(nodes[lo], tier-1)
		hi := lo + 1
		for hi < len(nodes) && x.p.t.Holds(child, nodes[hi]) {
			hi++
		}
		x.merge(t, x.below(child, tier-1, nodes[lo:hi]))
		lo = hi
	}
	x.border(t, tier)
	return t
}

func (x *exact) node(n tree.NodeID) *table {
	p, kinds := x.p, len(x.p.podClasses)
	t := &table{domain: tree.DomainID(n)}
	free := p.t.Free(tree.DomainID(n))
	p.stop.count(x.states)
	for s := range x.states {
		count := x.digits[s*kinds : (s+1)*kinds]
		if !p.holds(n, free, count) {
			continue
		}
		row := x.rowOf(t.domain, count)
		if !x.allowed(tree.NodeTier, s, row, count) {
			continue
		}
		v := p.leaf(n, row)
		if v.busy > x.limit {
			continue
		}
		for k, c := range count {
			if c > 0 && p.podClasses[k].penalty != nil {
				v.penalty += int64(c) * int64(p.podClasses[k].penalty[n])
			}
		}
		v.fragmentation = p.fragmentation(n, count)
		t.states, t.values = append(t.states, int32(s)), append(t.values, v)
	}
	return t
}

// holds reports whether a node has capacity for the given count of each pod class together.
func (p *problem) holds(n tree.NodeID, free []int64, count []int32) bool {
	some := 0
	for k, c := range count {
		if c > p.podClasses[k].shape.Fit(n) {
			return false
		}
		if c > 0 {
			some++
		}
	}
	if some < 2 {
		return true
	}
	for r, f := range free {
		var used int64
		for k, c := range count {
			used += int64(c) * p.podClasses[k].request[r]
		}
		if used > 0 && used > f {
			return false
		}
	}
	return true
}

func (x *exact) rowOf(d tree.DomainID, count []int32) []int32 {
	clear(x.row)
	copy(x.row, x.base[d])
	for k, c := range count {
		if class := x.p.podClasses[k].class; class >= 0 {
			x.row[class] += c
		}
	}
	return x.row
}

// allowed reports whether a domain of a tier may hold a state, by the job's hard limits.
func (x *exact) allowed(tier, state int, row, count []int32) bool {
	if tier == x.p.limit && state != 0 && state != x.states-1 {
		return false
	}
	if tier == x.p.colocationTier && row[gang.ServerClass] == 0 {
		for k, c := range count {
			if c > 0 && x.p.podClasses[k].class > gang.ServerClass {
				return false
			}
		}
	}
	return true
}

// table is the best value of each state that is possible below one domain.
type table struct {
	domain tree.DomainID
	states []int32 // ascending
	values []value
	parts  []*table
	splits []split // of each part but the first
}

// split has, for each state of a part and its earlier siblings, the state of the part.
type split struct {
	states, own []int32
}

// joined is the best way found so far to split a state.
type joined struct {
	value value
	own   int32
}

// merge adds a child's table to that of its earlier siblings.
func (x *exact) merge(t, child *table) {
	t.parts = append(t.parts, child)
	if len(t.parts) == 1 {
		t.states, t.values = child.states, child.values
		return
	}
	x.join(t, child)
	s := split{make([]int32, 0, len(x.found)), make([]int32, 0, len(x.found))}
	t.values = make([]value, 0, len(x.found))
	for state, at := range x.place {
		if at == 0 {
			continue
		}
		x.place[state] = 0
		found := &x.found[at-1]
		s.states, s.own = append(s.states, int32(state)), append(s.own, found.own)
		t.values = append(t.values, found.value)
	}
	t.states, t.splits = s.states, append(t.splits, s)
}

// join visits all pairs of states of a child and of its earlier siblings.
func (x *exact) join(t, child *table) {
	x.found = x.found[:0]
	last := len(x.p.podClasses) - 1
	for i, a := range t.states {
		x.p.stop.count(len(child.states))
		fit := x.p.podClasses[last].count - x.digit(a, last)
		for j, b := range child.states {
			s := int(a + b)
			if s >= x.states || x.digit(b, last) > fit {
				break // those to come have as many of the last pod class, or more
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

func (x *exact) digit(state int32, k int) int32 { return x.digits[int(state)*len(x.p.podClasses)+k] }

// together reports whether two states have no more than all members.
func (x *exact) together(a, b int32) bool {
	for k := range x.p.podClasses {
		if x.digit(a, k)+x.digit(b, k) > x.p.podClasses[k].count {
			return false
		}
	}
	return true
}

// border adds the cost of a domain's own uplink, and takes out what it may not hold.
func (x *exact) border(t *table, tier int) {
	kinds := len(x.p.podClasses)
	states, values := make([]int32, 0, len(t.states)), t.values[:0]
	for i, s := range t.states {
		count := x.digits[int(s)*kinds : (int(s)+1)*kinds]
		row := x.rowOf(t.domain, count)
		own := x.p.uplink(t.domain, tier, row)
		if x.allowed(tier, int(s), row, count) && own.busy <= x.limit {
			states, values = append(states, s), append(values, t.values[i].plus(own))
		}
	}
	t.states, t.values = states, values
}

// read follows the splits down from a state.
func (x *exact) read(t *table, state int32, nodes []tree.NodeID, counts []int32) {
	if len(t.parts) == 0 {
		kinds := len(x.p.podClasses)
		i, _ := slices.BinarySearch(nodes, tree.NodeID(t.domain))
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
