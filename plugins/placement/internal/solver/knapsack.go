// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// knapsackWork bounds the pairs of parts and counts that the knapsack looks at.
const knapsackWork = 1 << 19

// knapsack chooses nodes for a whole ring. Its cost is the price of each node, rack and so on that holds some of its members
// and not all: what counts is which domains are used, not how many members each of them has. So it is a knapsack: for
// each domain, the cheapest set of nodes below it that holds at least k members, for every k; sets of siblings are joined
// one after the other.
type knapsack struct {
	b    *partialAssignment
	want int
	done []cheapestSets // sets that hold everybody, by domain
}

// cheapestSets are the cheapest sets below one domain.
type cheapestSets struct {
	cost  []int64 // of k members, for k from 0 to everybody
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

// below works out the sets of a domain, without the price of its own border.
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
