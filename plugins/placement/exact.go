// SPDX-License-Identifier: Apache-2.0

package placement

import "math"

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
	base    map[DomainID][]int32
	byBusy  bool
	anyBusy bool           // a last pass: how busy uplinks are below the limit does not matter
	limit   float64        // no uplink may be busier
	bound   int64          // priced bytes of a plan that is known: what comes to more is not followed
	flows   *flows         // the traffic, if it is that; else nothing is known of the rest of a plan
	near    [][]companions // by tier and pair of classes
	once    bool           // without the last pass
	work    int            // pairs of states that may still be looked at
	row     []int32
	place   []int32 // scratch of merge: of each state, 1 + its place in found
	found   []joined
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
	x := &exact{p: p, states: p.states(), row: make([]int32, p.classes), limit: math.Inf(1), bound: impossible, work: math.MaxInt}
	kinds := len(p.kinds)
	x.digits = make([]int32, x.states*kinds)
	size := int32(1)
	for k := range kinds {
		for s := range x.states {
			x.digits[s*kinds+k] = int32(s) / size % (p.kinds[k].count + 1)
		}
		size *= p.kinds[k].count + 1
	}
	x.base, x.place = p.baseRows(), make([]int32, x.states)
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

// solve returns how many of each kind go to each of the nodes (ascending by id), node-major; ok is false if nothing fits,
// nothing is as good as what is known, or the work is used up.
func (x *exact) solve(nodes []NodeID) (counts []int32, ok bool) {
	x.byBusy = x.p.byBusy
	x.look(nodes)
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
	counts = make([]int32, len(nodes)*len(x.p.kinds))
	x.read(root, int32(x.states-1), nodes, counts)
	return counts, true
}

// whole is the table of everything, and the value of the best plan; nil if there is none.
func (x *exact) whole(nodes []NodeID) (*table, value) {
	root := x.below(x.p.t.Root(), len(x.p.t.tiers), nodes)
	last := len(root.states) - 1
	if x.work < 0 || last < 0 || root.states[last] != int32(x.states-1) {
		return nil, value{}
	}
	return root, root.values[last]
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
	t := &table{domain: DomainID(n), base: x.base[DomainID(n)]}
	free := p.t.Free(DomainID(n))
	p.stop.count(x.states)
	for s := range x.states {
		count := x.digits[s*kinds : (s+1)*kinds]
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
		t.states, t.values = append(t.states, int32(s)), append(t.values, v)
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
