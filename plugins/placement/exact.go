// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"
	"slices"
)

// maxStates bounds the tables of the exact search.
const maxStates = 1 << 12

// exact finds the best plan on a set of nodes by dynamic programming over the tree.
//
// Costs are sums over domains of a function of how many members of each kind the domain holds. So the best way to put a
// given state (so many of each kind) below a domain is the best split of it over the domain's children, whatever is done
// elsewhere: each node's table is worked out directly, and tables of siblings are merged one after the other. For nodes n
// and states s that is O(n s^2 / 2^kinds). The result is optimal for these nodes in bytes, then busiest uplink, then
// penalty, then harm. Where the busiest uplink goes first, a first pass finds how busy it must be, a second one the fewest
// bytes below that. A last pass makes penalty and harm least, however busy other uplinks are than the busiest.
type exact struct {
	p       *problem
	states  int
	digits  []int32 // state-major: how many of each kind
	stride  []int32
	base    map[DomainID][]int32
	byBusy  bool
	anyBusy bool    // a last pass: how busy uplinks are below the limit does not matter
	limit   float64 // no uplink may be busier
	row     []int32
}

// table is the best value of each state below one domain.
type table struct {
	domain   DomainID
	values   []value
	states   []int32 // those that are possible, ascending
	children []*table
	choices  [][]int32 // of each child: for each state of it and its elder siblings, the child's state
}

// states that a problem has, or 0 if they are too many.
func (p *problem) states() int {
	states := 1
	for i := range p.kinds {
		if states *= int(p.kinds[i].count) + 1; states > maxStates {
			return 0
		}
	}
	return states
}

func newExact(p *problem) *exact {
	x := &exact{p: p, states: p.states(), row: make([]int32, p.classes)}
	kinds := len(p.kinds)
	x.digits = make([]int32, x.states*kinds)
	size := int32(1)
	for k := range kinds {
		x.stride = append(x.stride, size)
		for s := range x.states {
			x.digits[s*kinds+k] = int32(s) / size % (p.kinds[k].count + 1)
		}
		size *= p.kinds[k].count + 1
	}
	x.base = p.baseRows()
	return x
}

// baseRows are the members placed before, by domain and class.
func (p *problem) baseRows() map[DomainID][]int32 {
	rows := map[DomainID][]int32{}
	for _, f := range p.fixed {
		for v := DomainID(f.node); v != NoDomain; v = p.t.parent[v] {
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

// solve returns how many of each kind go to each of the nodes (ascending by id), node-major; ok is false if nothing fits.
func (x *exact) solve(nodes []NodeID) (counts []int32, ok bool) {
	x.byBusy, x.limit = x.p.byBusy, math.Inf(1)
	root := x.below(x.p.t.Root(), len(x.p.t.tiers), nodes)
	all := int32(x.states - 1)
	if !root.values[all].possible() {
		return nil, false
	}
	if x.byBusy {
		x.byBusy, x.limit = false, root.values[all].busy
		root = x.below(x.p.t.Root(), len(x.p.t.tiers), nodes)
	}
	if root.values[all].busy > 0 {
		x.limit, x.anyBusy = root.values[all].busy, true
		root = x.below(x.p.t.Root(), len(x.p.t.tiers), nodes)
	}
	counts = make([]int32, len(nodes)*len(x.p.kinds))
	x.read(root, all, nodes, counts)
	return counts, true
}

// below is the table of a domain, from the candidates among its nodes.
func (x *exact) below(d DomainID, tier int, nodes []NodeID) *table {
	if tier == NodeTier {
		return x.node(nodes[0])
	}
	t := &table{domain: d}
	for lo := 0; lo < len(nodes); {
		child := x.p.t.Ancestor(nodes[lo], tier-1)
		hi := lo + 1
		for hi < len(nodes) && nodes[hi] < x.p.t.nodeHi[child] {
			hi++
		}
		x.merge(t, x.below(child, tier-1, nodes[lo:hi]))
		lo = hi
	}
	x.border(t, tier)
	return t
}

func (x *exact) node(n NodeID) *table {
	p, kinds := x.p, len(x.p.kinds)
	t := &table{domain: DomainID(n), values: make([]value, x.states)}
	free := p.t.Free(DomainID(n))
	for s := range x.states {
		count := x.digits[s*kinds : (s+1)*kinds]
		t.values[s].bytes = impossible
		if !p.holds(n, free, count) {
			continue
		}
		row := x.rowOf(t.domain, count)
		if !x.allowed(NodeTier, s, row, count) {
			continue
		}
		v := p.leaf(n, row)
		if v.busy > x.limit {
			continue
		}
		for k, c := range count {
			if c > 0 && p.kinds[k].penalty != nil {
				v.penalty += int64(c) * int64(p.kinds[k].penalty[n])
			}
		}
		v.harm = p.harm(n, count)
		t.values[s] = v
		t.states = append(t.states, int32(s))
	}
	return t
}

// holds says whether a node has room for so many of each kind together.
func (p *problem) holds(n NodeID, free []int64, count []int32) bool {
	some := 0
	for k, c := range count {
		if c > p.kinds[k].shape.fit[n] {
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
			used += int64(c) * p.kinds[k].request[r]
		}
		if used > 0 && used > f {
			return false
		}
	}
	return true
}

func (x *exact) rowOf(d DomainID, count []int32) []int32 {
	clear(x.row)
	copy(x.row, x.base[d])
	for k, c := range count {
		if class := x.p.kinds[k].class; class >= 0 {
			x.row[class] += c
		}
	}
	return x.row
}

// allowed says whether a domain of a tier may hold a state, by the job's hard limits.
func (x *exact) allowed(tier, state int, row, count []int32) bool {
	if tier == x.p.limit && state != 0 && state != x.states-1 {
		return false
	}
	if tier == x.p.coloc && row[serverClass] == 0 {
		for k, c := range count {
			if c > 0 && x.p.kinds[k].class > serverClass {
				return false
			}
		}
	}
	return true
}

// merge adds a child's table to that of its elder siblings.
func (x *exact) merge(t, child *table) {
	t.children = append(t.children, child)
	if len(t.children) == 1 {
		t.values, t.states = append([]value(nil), child.values...), append([]int32(nil), child.states...)
		t.choices = append(t.choices, nil)
		return
	}
	values := make([]value, x.states)
	for s := range values {
		values[s].bytes = impossible
	}
	choice := make([]int32, x.states)
	for _, a := range t.states {
		for _, b := range child.states {
			if !x.together(a, b) {
				continue
			}
			v := t.values[a].plus(child.values[b])
			if x.anyBusy {
				v.busy = 0
			}
			if s := a + b; !values[s].possible() || v.less(values[s], x.byBusy) {
				values[s], choice[s] = v, b
			}
		}
	}
	t.values, t.choices = values, append(t.choices, choice)
	t.states = t.states[:0]
	for s := range values {
		if values[s].possible() {
			t.states = append(t.states, int32(s))
		}
	}
}

// together says whether two states are no more than everything.
func (x *exact) together(a, b int32) bool {
	kinds := len(x.stride)
	i, j := int(a)*kinds, int(b)*kinds
	for k := range kinds {
		if x.digits[i+k]+x.digits[j+k] > x.p.kinds[k].count {
			return false
		}
	}
	return true
}

// border adds the cost of a domain's own uplink, and takes out what it may not hold.
func (x *exact) border(t *table, tier int) {
	kinds, kept := len(x.stride), t.states[:0]
	for _, s := range t.states {
		count := x.digits[int(s)*kinds : (int(s)+1)*kinds]
		row := x.rowOf(t.domain, count)
		own := x.p.uplink(t.domain, tier, row)
		if !x.allowed(tier, int(s), row, count) || own.busy > x.limit {
			t.values[s].bytes = impossible
			continue
		}
		t.values[s] = t.values[s].plus(own)
		kept = append(kept, s)
	}
	t.states = kept
}

// read follows the choices down from a state.
func (x *exact) read(t *table, state int32, nodes []NodeID, counts []int32) {
	if len(t.children) == 0 {
		kinds := len(x.stride)
		i, _ := slices.BinarySearch(nodes, NodeID(t.domain))
		copy(counts[i*kinds:(i+1)*kinds], x.digits[int(state)*kinds:])
		return
	}
	for i := len(t.children) - 1; i >= 0; i-- {
		own := state
		if i > 0 {
			own = t.choices[i][state]
		}
		x.read(t.children[i], own, nodes, counts)
		state -= own
	}
}
