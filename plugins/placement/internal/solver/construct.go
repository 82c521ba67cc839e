// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// lot is all that one role has to place: kinds with equal pods.
type roleDemand struct {
	role       int
	podClasses []int
	want       int32
	shape      *tree.Shape
}

// lots of a problem, in the order of roles.
func (p *problem) roleDemands() []roleDemand {
	var lots []roleDemand
	for k := range p.podClasses {
		i := 0
		for i < len(lots) && lots[i].role != p.podClasses[k].role {
			i++
		}
		if i == len(lots) {
			lots = append(lots, roleDemand{role: p.podClasses[k].role, shape: p.podClasses[k].shape})
		}
		lots[i].podClasses = append(lots[i].podClasses, k)
		lots[i].want += p.podClasses[k].count
	}
	return lots
}

// request of a lot's pods.
func (p *problem) request(l *roleDemand) []int64 { return p.podClasses[l.podClasses[0]].request }

// share of everything wanted that a domain can hold, as far as sums tell: 1 and more if all. It never errs on the low side.
func (p *problem) share(d tree.DomainID, lots []roleDemand) float64 {
	share := float64(tree.MaxFit)
	some := 0
	for i := range lots {
		if lots[i].want > 0 {
			share = min(share, float64(lots[i].shape.Sum(d))/float64(lots[i].want))
			some++
		}
	}
	if some < 2 || share == 0 {
		return share
	}
	for r, free := range p.t.Free(d) {
		var used int64
		for i := range lots {
			used += int64(lots[i].want) * p.request(&lots[i])[r]
		}
		if used > 0 {
			share = min(share, float64(max(0, free))/float64(used))
		}
	}
	return share
}

// lonely is how many workers to place are in a domain that must have a server and has none.
func (p *problem) workersWithoutServer(d tree.DomainID, tier int, row []int32) int64 {
	if tier != p.colocationTier || row[gang.ServerClass] > 0 {
		return 0
	}
	sum := -p.working[d]
	for class, n := range row {
		if class > gang.ServerClass {
			sum += int64(n)
		}
	}
	return sum
}

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
func (b *partialAssignment) bestFitDescent(d tree.DomainID, tier int, lots []roleDemand, by order) {
	b.bestFitExcept(d, tier, lots, by, tree.NoDomain)
}

// grow fills a domain, then what is left of the one above it, and so on up to a tier: as near as can be.
func (b *partialAssignment) expandFromSeed(anchor tree.DomainID, tier, top int, lots []roleDemand, by order) {
	done := tree.NoDomain
	for d := anchor; tier <= top && wanted(lots) > 0; d, tier = b.p.t.Parent(d), tier+1 {
		b.bestFitExcept(d, tier, lots, by, done)
		done = d
	}
}

// fillBut leaves one child out.
func (b *partialAssignment) bestFitExcept(d tree.DomainID, tier int, lots []roleDemand, by order, but tree.DomainID) {
	if tier == tree.NodeTier {
		b.fillNode(tree.NodeID(d), lots)
		return
	}
	lo, hi := b.p.t.Children(d)
	type child struct {
		id    tree.DomainID
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
		b.bestFitDescent(children[full].id, tier-1, lots, by)
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
		b.bestFitDescent(children[next].id, tier-1, lots, by)
		children = slices.Delete(children, next, next+1)
	}
}

func wanted(lots []roleDemand) int32 {
	var sum int32
	for i := range lots {
		sum += lots[i].want
	}
	return sum
}

// expense is what a member costs in a domain that is filled, in prices of borders: its own, those of the nodes that are
// needed at least, and those of the domains just below it.
func (p *problem) expense(d tree.DomainID, tier int, lots []roleDemand) float64 {
	largest := 0
	for i := range lots {
		if lots[i].want > lots[largest].want {
			largest = i
		}
	}
	l := &lots[largest]
	members := min(int64(l.want), l.shape.Sum(d))
	if members == 0 {
		return tree.MaxFit
	}
	price := int64(0)
	if tier < len(p.t.Weights()) {
		price = p.t.Weights()[tier]
	}
	if tier > tree.NodeTier {
		price += p.t.Weights()[tree.NodeTier] * l.shape.NodesFor(d, members)
	}
	if tier > tree.NodeTier+1 {
		price += p.t.Weights()[tier-1] * p.childrenFor(d, lots)
	}
	return float64(price) / float64(members)
}

// childrenFor is the least number of children of a domain that hold everybody, as far as sums tell.
func (p *problem) childrenFor(d tree.DomainID, lots []roleDemand) (children int64) {
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

// fillNode puts on a node all that is wanted, if there is room; else as many pairs of members that talk to each other as
// can be, and then whatever fits.
func (b *partialAssignment) fillNode(node tree.NodeID, lots []roleDemand) {
	if len(lots) == 2 && b.p.share(tree.DomainID(node), lots) < 1 {
		b.put(node, &lots[0], b.pairing(node, lots))
	}
	for i := len(lots) - 1; i >= 0; i-- {
		b.put(node, &lots[i], b.whole(node, &lots[i]))
	}
}

// whole is how many of a lot to put on a node: all that fit, but of parallel groups no more than stay together, if it is
// one at least.
func (b *partialAssignment) whole(node tree.NodeID, l *roleDemand) int32 {
	ring := b.p.ring
	if ring == nil || ring.Group == 1 || b.p.podClasses[l.podClasses[0]].class < 0 {
		return l.want
	}
	n, group := min(l.want, b.capacity(node, l.podClasses[0])), int32(ring.Group)
	if n > group && n < l.want {
		n -= n % group
	}
	return n
}

// pairing is how many members of the first role make the most pairs with those of the second that fit beside them.
func (b *partialAssignment) pairing(node tree.NodeID, lots []roleDemand) int32 {
	best, most := int32(0), int64(0)
	for own := int32(1); own <= lots[0].want; own++ {
		beside := b.beside(node, lots, []int32{own})
		if beside == noFit {
			break
		}
		if n := int64(own) * int64(beside); n > most {
			best, most = own, n
		}
	}
	return best
}

// put places n members of a lot on a node, or as many as there is room for: kinds in their order.
func (b *partialAssignment) put(node tree.NodeID, l *roleDemand, n int32) {
	if n = min(n, b.capacity(node, l.podClasses[0])); n <= 0 {
		return
	}
	l.want -= n
	for _, k := range l.podClasses {
		m := min(n, b.waiting[k])
		if m > 0 {
			b.add(node, k, m)
			n -= m
		}
	}
}

// spreads are sets of a scope's largest nodes, 2, 4, 8 and so on: where the busiest uplink goes first, more nodes may be
// better than fewer (over k equal nodes the busiest carries 2MW(k-1)/k^2 bytes).
func (p *problem) roundRobinSets(s scope) (sets [][]tree.NodeID) {
	lots := p.roleDemands()
	most := min(p.members(), maxTargets)
	nodes := p.largest(p.leafDomains(s, lots), lots, most)
	for n := 2; n < 2*len(nodes); n *= 2 {
		sets = append(sets, nodes[:min(n, len(nodes))])
	}
	return sets
}

// spread deals members out to nodes one at a time, round and round.
func (b *partialAssignment) roundRobinStart(nodes []tree.NodeID, lots []roleDemand) {
	for i := range lots {
		for placed := true; placed && lots[i].want > 0; {
			placed = false
			for _, n := range nodes {
				before := lots[i].want
				b.put(n, &lots[i], min(1, before))
				placed = placed || lots[i].want < before
			}
		}
	}
}
