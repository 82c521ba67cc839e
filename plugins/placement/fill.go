// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// order says in which order fill goes through the children of a domain.
type order int

const (
	// roomiest first: few domains.
	roomiest order = iota
	// densest first: few nodes for many members.
	densest
	// tightest first: those with the least room that still help.
	tightest
	orders
)

// fill is best-fit descent: a domain's members go to the tightest child that holds them all; where there is none, children
// are filled one after the other, and what is left at the end goes to the tightest that holds it. lots are what is to be
// placed, and what could not be placed afterwards.
func (b *board) fill(d DomainID, tier int, lots []lot, by order) {
	b.fillBut(d, tier, lots, by, NoDomain)
}

// grow fills a domain, then what is left of the one above it, and so on up to a tier: as near as can be.
func (b *board) grow(anchor DomainID, tier, top int, lots []lot, by order) {
	done := NoDomain
	for d := anchor; tier <= top && wanted(lots) > 0; d, tier = b.p.t.parent[d], tier+1 {
		b.fillBut(d, tier, lots, by, done)
		done = d
	}
}

// fillBut leaves one child out.
func (b *board) fillBut(d DomainID, tier int, lots []lot, by order, but DomainID) {
	if tier == NodeTier {
		b.fillNode(NodeID(d), lots)
		return
	}
	lo, hi := b.p.t.Children(d)
	type child struct {
		id    DomainID
		share float64
		rank  float64
	}
	children := make([]child, 0, hi-lo)
	full := -1
	for c := lo; c < hi; c++ {
		share := b.p.share(c, lots)
		b.work++
		if share <= 0 || c == but {
			continue
		}
		children = append(children, child{id: c, share: share})
		if last := len(children) - 1; share >= 1 && (full < 0 || share < children[full].share) {
			full = last
		}
	}
	if full >= 0 {
		b.fill(children[full].id, tier-1, lots, by)
		if wanted(lots) == 0 {
			return
		}
		children = slices.Delete(children, full, full+1)
	}
	for i := range children {
		c := &children[i]
		switch by {
		case densest:
			c.rank = b.p.expense(c.id, tier-1, lots)
		case tightest:
			c.rank = c.share
		default:
			c.rank = -c.share
		}
	}
	slices.SortFunc(children, func(x, y child) int { return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.id, y.id)) })
	whole := wanted(lots)
	for len(children) > 0 && wanted(lots) > 0 {
		next := 0
		left := float64(wanted(lots)) / float64(whole)
		best := 0.0
		for i := range children {
			if s := children[i].share; s >= left && (best == 0 || s < best) {
				next, best = i, s
			}
		}
		if best > 0 && b.p.share(children[next].id, lots) < 1 {
			next = 0
		}
		b.fill(children[next].id, tier-1, lots, by)
		children = slices.Delete(children, next, next+1)
	}
}

func wanted(lots []lot) int32 {
	var sum int32
	for i := range lots {
		sum += lots[i].want
	}
	return sum
}

// expense is what a member costs in a domain that is filled, in prices of borders: its own, those of the nodes that are
// needed at least, and those of the domains just below it.
func (p *problem) expense(d DomainID, tier int, lots []lot) float64 {
	largest := 0
	for i := range lots {
		if lots[i].want > lots[largest].want {
			largest = i
		}
	}
	l := &lots[largest]
	members := min(int64(l.want), l.shape.sumOf(d))
	if members == 0 {
		return maxFit
	}
	price := int64(0)
	if tier < len(p.t.weights) {
		price = p.t.weights[tier]
	}
	if tier > NodeTier {
		price += p.t.weights[NodeTier] * l.shape.nodesFor(d, members)
	}
	if tier > NodeTier+1 {
		price += p.t.weights[tier-1] * p.childrenFor(d, lots)
	}
	return float64(price) / float64(members)
}

// childrenFor is the least number of children of a domain that hold everybody, as far as sums tell.
func (p *problem) childrenFor(d DomainID, lots []lot) (children int64) {
	lo, hi := p.t.Children(d)
	shares := make([]float64, 0, hi-lo)
	for c := lo; c < hi; c++ {
		shares = append(shares, p.share(c, lots))
	}
	slices.Sort(shares)
	for left := 1.0; left > 0 && len(shares) > 0; children++ {
		left -= shares[len(shares)-1]
		shares = shares[:len(shares)-1]
	}
	return children
}

// nodesFor is the least number of nodes of a domain above nodes that hold so many members.
func (s *fitShape) nodesFor(d DomainID, members int64) int64 {
	h := &s.nodes[int(d)-len(s.fit)]
	var nodes int64
	for b := fitBuckets - 1; b > 0 && members > 0; b-- {
		if h[b] == 0 {
			continue
		}
		n := min(int64(h[b]), (members+int64(b)-1)/int64(b))
		nodes += n
		members -= n * int64(b)
	}
	return nodes
}

// fillNode puts on a node all that is wanted, if there is room; else as many pairs of members that talk to each other as
// can be, and then whatever fits.
func (b *board) fillNode(node NodeID, lots []lot) {
	if len(lots) == 2 && b.p.share(DomainID(node), lots) < 1 {
		b.put(node, &lots[0], b.pairing(node, lots))
	}
	for i := len(lots) - 1; i >= 0; i-- {
		b.put(node, &lots[i], b.whole(node, &lots[i]))
	}
}

// whole is how many of a lot to put on a node: all that fit, but of parallel groups no more than stay together, if it is
// one at least.
func (b *board) whole(node NodeID, l *lot) int32 {
	ring := b.p.ring
	if ring == nil || ring.group == 1 || b.p.kinds[l.kinds[0]].class < 0 {
		return l.want
	}
	n, group := min(l.want, b.room(node, l.kinds[0])), int32(ring.group)
	if n > group && n < l.want {
		n -= n % group
	}
	return n
}

// pairing is how many members of the first role make the most pairs with those of the second that fit beside them.
func (b *board) pairing(node NodeID, lots []lot) int32 {
	best, most := int32(0), int64(0)
	for own := int32(1); own <= lots[0].want; own++ {
		beside := b.beside(node, lots, []int32{own})
		if beside == noRoom {
			break
		}
		if n := int64(own) * int64(beside); n > most {
			best, most = own, n
		}
	}
	return best
}

// put places n members of a lot on a node, or as many as there is room for: kinds in their order.
func (b *board) put(node NodeID, l *lot, n int32) {
	if n = min(n, b.room(node, l.kinds[0])); n <= 0 {
		return
	}
	l.want -= n
	for _, k := range l.kinds {
		m := min(n, b.waiting[k])
		if m > 0 {
			b.add(node, k, m)
			n -= m
		}
	}
}
