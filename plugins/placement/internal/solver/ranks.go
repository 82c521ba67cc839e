// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// assign gives each member its node, given the count of each pod class on each of the nodes (ascending by id), node-major.
//
// Members go in the order of their indexes along the tree, so that consecutive ranks are neighbors. The members of a gap
// begin in the domain of the member before it and end in that of the member after it, on every tier.
func (p *problem) assign(nodes []tree.NodeID, counts []int32) []gang.Assignment {
	all := make([]gang.Assignment, 0, p.members())
	kinds := len(p.podClasses)
	begin, end := tree.NodeID(-1), tree.NodeID(-1) // where the last pod class begins and ends
	for k := range p.podClasses {
		kind := &p.podClasses[k]
		along := treeOrder{t: p.t, group: 1}
		left, right := tree.NodeID(-1), tree.NodeID(-1)
		if ring := p.ring; ring != nil && kind.class >= 0 {
			g := ring.Gaps[kind.class]
			left, right, along.at, along.group = g.Left, g.Right, g.Start%max(1, ring.Length), ring.Group
			if k > 0 && p.podClasses[k-1].class == kind.class {
				left = end // a gap of two roles: the second continues where the first ended
				if right < 0 {
					right = begin
				}
			}
		}
		for i, n := range nodes {
			if c := counts[i*kinds+k]; c > 0 {
				along.shares = append(along.shares, nodeShare{n, int64(c)})
			}
		}
		next := 0
		order := along.order(left, right)
		if len(order) > 0 {
			begin, end = order[0].node, order[len(order)-1].node
		}
		for _, s := range order {
			for range s.members {
				all = append(all, gang.Assignment{Role: kind.role, Index: kind.indexes[next], Node: s.node})
				next++
			}
		}
	}
	slices.SortFunc(all, func(a, b gang.Assignment) int {
		return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Index, b.Index))
	})
	return all
}

// nodeShare is a node with its share of consecutive members.
type nodeShare struct {
	node    tree.NodeID
	members int64
}

// treeOrder is an order of shares along the tree.
type treeOrder struct {
	t       *tree.Topology
	shares  []nodeShare // ascending by node
	group   int64       // members that should stay together
	at      int64       // members ordered so far
	ordered []nodeShare
}

// order starts next to left and ends next to right; either may be below 0.
func (l *treeOrder) order(left, right tree.NodeID) []nodeShare {
	l.ordered = make([]nodeShare, 0, len(l.shares))
	tail := l.below(len(l.t.Tiers()), l.shares, left, right)
	return append(l.ordered, tail...)
}

// below orders the shares of one domain of a tier, and returns those that come on the return to right, after all others.
func (l *treeOrder) below(tier int, shares []nodeShare, left, right tree.NodeID) (tail []nodeShare) {
	if tier == tree.NodeTier || len(shares) == 0 {
		for _, s := range shares {
			l.at += s.members
		}
		l.ordered = append(l.ordered, shares...)
		return nil
	}
	var first, last []nodeShare
	others := make([][]nodeShare, 0, 8)
	for lo := 0; lo < len(shares); {
		child := l.t.Ancestor(shares[lo].node, tier-1)
		hi := lo + 1
		for hi < len(shares) && l.t.Holds(child, shares[hi].node) {
			hi++
		}
		switch {
		case left >= 0 && l.t.Holds(child, left):
			first = shares[lo:hi]
		case right >= 0 && l.t.Holds(child, right):
			last = shares[lo:hi]
		default:
			others = append(others, shares[lo:hi])
		}
		lo = hi
	}
	inFirst := tree.NodeID(-1)
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
func (l *treeOrder) nextOf(children [][]nodeShare) int {
	if l.group > 1 {
		for i, shares := range children {
			members := l.at
			for _, s := range shares {
				members += s.members
			}
			if members%l.group == 0 {
				return i
			}
		}
	}
	return 0
}
