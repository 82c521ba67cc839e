// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

// assign gives each member its node: so many of each kind on each of the nodes (ascending by id), node-major.
//
// Members go in the order of their indexes along the tree, so that consecutive ranks are neighbours. The members of a gap
// begin in the domain of the member before it and end in that of the member after it, on every tier.
func (p *problem) assign(nodes []NodeID, counts []int32) []Assignment {
	return p.assignBy(nodes, counts, true)
}

// assignBy may leave parallel groups out of account: then it goes straight along the tree.
func (p *problem) assignBy(nodes []NodeID, counts []int32, groups bool) []Assignment {
	all := make([]Assignment, 0, p.members())
	kinds := len(p.kinds)
	begin, end := NodeID(-1), NodeID(-1) // where the last kind begins and ends
	for k := range p.kinds {
		kind := &p.kinds[k]
		line := line{t: p.t, group: 1}
		left, right := NodeID(-1), NodeID(-1)
		if ring := p.ring; ring != nil && kind.class >= 0 {
			g := ring.gaps[kind.class]
			left, right, line.at = g.left, g.right, g.start%max(1, ring.length)
			if groups {
				line.group = ring.group
			}
			if k > 0 && p.kinds[k-1].class == kind.class {
				left = end // a gap of two roles: the second goes on where the first ended
				if right < 0 {
					right = begin
				}
			}
		}
		for i, n := range nodes {
			if c := counts[i*kinds+k]; c > 0 {
				line.stops = append(line.stops, stop{n, int64(c)})
			}
		}
		next := 0
		order := line.order(left, right)
		if len(order) > 0 {
			begin, end = order[0].node, order[len(order)-1].node
		}
		for _, s := range order {
			for range s.members {
				all = append(all, Assignment{Role: kind.role, Index: kind.indexes[next], Node: s.node})
				next++
			}
		}
	}
	slices.SortFunc(all, func(a, b Assignment) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
	})
	return all
}

// stop is a node with its share of consecutive members.
type stop struct {
	node    NodeID
	members int64
}

// line is an order of stops along the tree.
type line struct {
	t       *Topology
	stops   []stop // ascending by node
	group   int64  // members that should stay together
	at      int64  // members ordered so far
	ordered []stop
}

// order starts next to left and ends next to right; either may be below 0.
func (l *line) order(left, right NodeID) []stop {
	l.ordered = make([]stop, 0, len(l.stops))
	tail := l.below(len(l.t.tiers), l.stops, left, right)
	return append(l.ordered, tail...)
}

// below orders the stops of one domain of a tier, and returns those that come on the way back to right, after all others.
func (l *line) below(tier int, stops []stop, left, right NodeID) (tail []stop) {
	if tier == NodeTier || len(stops) == 0 {
		for _, s := range stops {
			l.at += s.members
		}
		l.ordered = append(l.ordered, stops...)
		return nil
	}
	var first, last []stop
	others := make([][]stop, 0, 8)
	for lo := 0; lo < len(stops); {
		child := l.t.Ancestor(stops[lo].node, tier-1)
		hi := lo + 1
		for hi < len(stops) && stops[hi].node < l.t.nodeHi[child] {
			hi++
		}
		switch {
		case left >= 0 && l.t.Holds(child, left):
			first = stops[lo:hi]
		case right >= 0 && l.t.Holds(child, right):
			last = stops[lo:hi]
		default:
			others = append(others, stops[lo:hi])
		}
		lo = hi
	}
	inFirst := NodeID(-1)
	if left >= 0 && right >= 0 && l.t.Ancestor(left, tier-1) == l.t.Ancestor(right, tier-1) {
		inFirst = right
	}
	tail = l.below(tier-1, first, left, inFirst)
	for len(others) > 0 {
		next := l.nextOf(others)
		l.below(tier-1, others[next], -1, -1)
		if next == 0 {
			others = others[1:]
		} else {
			others = slices.Delete(others, next, next+1)
		}
	}
	if len(last) == 0 {
		return tail
	}
	out := l.ordered
	l.ordered = nil
	end := l.below(tier-1, last, -1, right)
	back := slices.Concat(l.ordered, end, tail)
	l.ordered = out
	return back
}

// nextOf is the child to go to next: one that ends a parallel group, if there is one; else the first by name.
func (l *line) nextOf(children [][]stop) int {
	if l.group > 1 {
		for i, stops := range children {
			members := l.at
			for _, s := range stops {
				members += s.members
			}
			if members%l.group == 0 {
				return i
			}
		}
	}
	return 0
}
