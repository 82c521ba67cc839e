// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

const knapsackWork = 1 << 19

// knapsack chooses nodes for a whole ring. Its cost is the price of each node, rack and so on that holds some of its members
// and not all: what counts is which domains are used, not how many members each of them has. So it is a knapsack: for
// each domain, the cheapest set of nodes below it that holds at least k members, for every k; sets of siblings are joined
// one after the other.
type knapsack struct {
	b    *partialAssignment
	want int
	done []cheapestSets // sets that hold all members, by domain
}

// cheapestSets are the cheapest sets below one domain.
type cheapestSets struct {
	cost  []int64 // of k members, for k from 0 to all
	parts []*cheapestSets
	taken [][]uint16 // of each part: how many members it has, for each k
	node  tree.NodeID
}

const notCovered = math.MaxInt64 / 4

// knapsackCover puts a ring without fixed members on an empty assignment, and reports whether it did: only if that is the problem's only pod class.
func (b *partialAssignment) knapsackCover(d tree.DomainID, tier int) bool {
	p := b.p
	ring := p.ring
	if ring == nil || len(p.podClasses) != 1 || len(ring.Gaps) != 1 || len(p.fixed) > 0 || ring.Group > 1 && !ring.Hybrid || p.byBusy || p.unit == 0 || p.podClasses[0].class < 0 {
		return false
	}
	c := &knapsack{b: b, want: int(p.podClasses[0].count)}
	if c.want >= math.MaxUint16 {
		return false
	}
	lo, hi := p.t.NodesOf(d)
	nodes := 0
	for n := lo; n < hi; n++ {
		if p.podClasses[0].shape.Fit(n) > 0 {
			nodes++
		}
	}
	if nodes*c.want*(tier-tree.NodeTier) > knapsackWork*p.effort {
		return false
	}
	c.below(d, tier)
	best := -1
	for i := range c.done {
		if best < 0 || c.done[i].cost[c.want] < c.done[best].cost[c.want] {
			best = i
		}
	}
	if best < 0 {
		return false
	}
	c.place(&c.done[best], c.want)
	return b.complete()
}

// below computes the sets of a domain, without the price of its own border.
func (c *knapsack) below(d tree.DomainID, tier int) *cheapestSets {
	own := &cheapestSets{cost: make([]int64, c.want+1), node: -1}
	for k := 1; k <= c.want; k++ {
		own.cost[k] = notCovered
	}
	for _, child := range c.tightestFirst(d) {
		if tier-1 == tree.NodeTier {
			c.join(own, c.node(tree.NodeID(child)), child, 0)
			continue
		}
		c.join(own, c.below(child, tier-1), child, c.b.p.weights[tier-1])
	}
	if own.cost[c.want] < notCovered {
		c.done = append(c.done, *own)
	}
	return own
}

// tightestFirst are the children of a domain that have capacity: of sets that cost the same, the first one found stays.
func (c *knapsack) tightestFirst(d tree.DomainID) []tree.DomainID {
	t := c.b.p.t
	lo, hi := t.Children(d)
	children := make([]tree.DomainID, 0, hi-lo)
	for child := lo; child < hi; child++ {
		if c.b.p.podClasses[0].shape.Sum(child) > 0 {
			children = append(children, child)
		}
	}
	slices.SortStableFunc(children, func(a, b tree.DomainID) int { return cmp.Compare(t.FreeGPUs(a), t.FreeGPUs(b)) })
	return children
}

// node is a part that holds its members or none.
func (c *knapsack) node(n tree.NodeID) *cheapestSets {
	fit := min(int(c.b.p.podClasses[0].shape.Fit(n)), c.want)
	own := &cheapestSets{cost: make([]int64, fit+1), node: n}
	price := c.b.p.leaf(n, []int32{int32(fit)}).bytes
	for k := 1; k <= fit; k++ {
		own.cost[k] = price
	}
	return own
}

// join adds a part to a set: of each cost of the part only the most members that it can have for it.
func (c *knapsack) join(own, part *cheapestSets, d tree.DomainID, weight int64) {
	taken := make([]uint16, c.want+1)
	before := append([]int64(nil), own.cost...)
	for a := 1; a < len(part.cost); a++ {
		if part.cost[a] >= notCovered || a+1 < len(part.cost) && part.cost[a+1] == part.cost[a] {
			continue
		}
		price := part.cost[a] + weight*c.b.p.traffic.Load(d, []int32{int32(a)})
		for k := 1; k <= c.want; k++ {
			if sum := before[max(0, k-a)] + price; sum < own.cost[k] {
				own.cost[k], taken[k] = sum, uint16(a)
			}
		}
	}
	own.parts, own.taken = append(own.parts, part), append(own.taken, taken)
}

// place fills the chosen nodes. What the last ones have too much of is left free.
func (c *knapsack) place(set *cheapestSets, k int) {
	if set.node >= 0 {
		c.b.add(set.node, 0, min(int32(k), c.b.waiting[0], c.b.p.podClasses[0].shape.Fit(set.node)))
		return
	}
	for i := len(set.parts) - 1; i >= 0 && k > 0; i-- {
		if a := int(set.taken[i][k]); a > 0 {
			c.place(set.parts[i], a)
			k = max(0, k-a)
		}
	}
}

const binPackWork = 1 << 21

// packTable is the table of binPack: over the nodes one by one, for each number of members of all roles but the last, the most
// members of the last role that fit in addition.
type packTable struct {
	b       *partialAssignment
	demands []roleDemand // the one that wants most last
	nodes   []tree.NodeID
	states  int
	vectors [][]int32 // of each state: how many of each role demand but the last
	choice  []int32   // node-major: of each state, the node's own
}

// binPack places roles that compete for the same nodes, where descent failed. It finds capacity if there is any, and
// ignores cost. It gives up on what is too much work.
func (b *partialAssignment) binPack(lo, hi tree.NodeID) bool {
	b.reset()
	k := &packTable{b: b, demands: b.p.roleDemands(), states: 1}
	if len(k.demands) < 2 {
		return false
	}
	most := 0
	for i := range k.demands {
		if k.demands[i].want >= k.demands[most].want {
			most = i
		}
	}
	last := len(k.demands) - 1
	k.demands[most], k.demands[last] = k.demands[last], k.demands[most]
	for i := range k.demands[:last] {
		if k.states *= int(k.demands[i].want) + 1; k.states > binPackWork {
			return false
		}
	}
	k.enumerate()
	work := 0
	for n := lo; n < hi; n++ {
		own, some := 1, false
		for i := range k.demands {
			fit := min(k.demands[i].shape.Fit(n), k.demands[i].want)
			some = some || fit > 0
			if i < last {
				own *= int(fit) + 1
			}
		}
		if some {
			k.nodes = append(k.nodes, n)
			work += own * k.states
		}
	}
	if work > binPackWork*b.p.effort || !k.fill() {
		return false
	}
	k.place()
	return b.complete()
}

func (k *packTable) enumerate() {
	last := len(k.demands) - 1
	for s := range k.states {
		vector := make([]int32, last)
		for i := range vector {
			size := int(k.demands[i].want) + 1
			vector[i] = int32(s % size)
			s /= size
		}
		k.vectors = append(k.vectors, vector)
	}
}

const noFit = -1

// fill computes the table, and reports whether all members find capacity.
func (k *packTable) fill() bool {
	most, next := make([]int32, k.states), make([]int32, k.states)
	for s := range most {
		most[s] = noFit
	}
	most[0] = 0
	k.choice = make([]int32, len(k.nodes)*k.states)
	for i, n := range k.nodes {
		for s := range next {
			next[s] = noFit
		}
		for own, vector := range k.vectors {
			k.b.p.stop.count(1)
			more := k.b.additional(n, k.demands, vector)
			if more == noFit {
				continue
			}
			k.b.p.stop.count(k.states - own)
			for s := own; s < k.states; s++ {
				if before := most[s-own]; before >= 0 && before+more > next[s] && k.sums(s, own) {
					next[s], k.choice[i*k.states+s] = before+more, int32(own)
				}
			}
		}
		most, next = next, most
	}
	return most[k.states-1] >= k.demands[len(k.demands)-1].want
}

// sums reports whether a part of a state is no more than the state.
func (k *packTable) sums(state, part int) bool {
	for i, n := range k.vectors[part] {
		if n > k.vectors[state][i] {
			return false
		}
	}
	return true
}

func (k *packTable) place() {
	last := len(k.demands) - 1
	for i, s := len(k.nodes)-1, k.states-1; i >= 0; i-- {
		own := int(k.choice[i*k.states+s])
		for l, n := range k.vectors[own] {
			k.b.put(k.nodes[i], &k.demands[l], n)
		}
		s -= own
	}
	for _, n := range k.nodes {
		if k.b.mayHold(n, &k.demands[last]) {
			k.b.put(n, &k.demands[last], k.demands[last].want)
		}
	}
}

// additional is how many members of the last role demand fit on a node in addition to the given numbers of the others; noFit if those do not fit.
func (b *partialAssignment) additional(n tree.NodeID, demands []roleDemand, vector []int32) int32 {
	p := b.p
	last := &demands[len(demands)-1]
	for i, c := range vector {
		if c > demands[i].shape.Fit(n) {
			return noFit
		}
	}
	fit := min(last.shape.Fit(n), last.want)
	for r, free := range p.t.Free(tree.DomainID(n)) {
		var used int64
		for i, c := range vector {
			used += int64(c) * p.request(&demands[i])[r]
		}
		if used > 0 && used > free {
			return noFit
		}
		if amount := p.request(last)[r]; amount > 0 && fit > 0 {
			fit = min(fit, int32(min(tree.MaxFit, (max(0, free)-used)/amount)))
		}
	}
	if p.colocationTier != tree.NodeTier || b.serves(n) {
		return fit
	}
	return b.besideServer(demands, vector, fit)
}

// besideServer honors the colocation limit: workers fit only where a server is.
func (b *partialAssignment) besideServer(demands []roleDemand, vector []int32, fit int32) int32 {
	class := func(i int) int { return b.p.podClasses[demands[i].podClasses[0]].class }
	last := len(demands) - 1
	servers, workers := class(last) == gang.ServerClass && fit > 0, false
	for i, c := range vector {
		servers = servers || c > 0 && class(i) == gang.ServerClass
		workers = workers || c > 0 && class(i) > gang.ServerClass
	}
	switch {
	case servers:
		return fit
	case workers:
		return noFit
	case class(last) > gang.ServerClass:
		return 0
	}
	return fit
}

// mayHold reports whether a role may be on a node, as far as it must have a server there.
func (b *partialAssignment) mayHold(n tree.NodeID, l *roleDemand) bool {
	return b.p.colocationTier != tree.NodeTier || b.p.podClasses[l.podClasses[0]].class <= gang.ServerClass || b.serves(n)
}

func (b *partialAssignment) serves(n tree.NodeID) bool {
	c := b.position[n]
	return c > 0 && b.row(int(c) - 1)[gang.ServerClass] > 0
}
