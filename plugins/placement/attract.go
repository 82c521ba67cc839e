// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// attraction improves plans of flows, where a member is drawn to the domains that hold those it talks to.
//
// Priced bytes are a constant less twice the sum, over domains v and pairs of classes, of price * weight_ab * k_a k_b
// (flows.go). So what a member of class a adds on a node is the node's pull on it, the sum over its tiers of price *
// weight_ab * k_b, and a move changes the sum by the difference of two pulls. A swap of two members that talk to each
// other changes it by four pulls, less twice what they share where they are apart.
type attraction struct {
	b     *board
	f     *flows
	nodes []NodeID
	pulls []int64 // node-major, of each kind
	apart []int64 // price of all tiers below the one where two nodes meet, by that tier
}

// attract moves and swaps until no move and no swap gains, or the work is used up.
func (b *board) attract(targets []NodeID, limit int) {
	f, ok := b.p.traffic.(*flows)
	if !ok || len(f.pairs) == 0 || b.p.unit == 0 || b.p.coloc > 0 || b.p.byBusy {
		return
	}
	a := &attraction{b: b, f: f, apart: make([]int64, len(b.p.t.tiers)+1)}
	for tier := NodeTier; tier < len(b.p.t.tiers); tier++ {
		a.apart[tier+1] = a.apart[tier] + b.p.weights[tier]
	}
	used, _ := b.nodes()
	a.nodes = union(targets, used)
	for a.pull(); b.work < limit && (a.move() || a.swap()); a.pull() {
	}
}

// pull works all pulls out.
func (a *attraction) pull() {
	b := a.b
	a.pulls = slices.Grow(a.pulls[:0], len(a.nodes)*b.kinds)[:len(a.nodes)*b.kinds]
	clear(a.pulls)
	for i, n := range a.nodes {
		pulls := a.pulls[i*b.kinds : (i+1)*b.kinds]
		for d, tier := DomainID(n), NodeTier; tier < len(b.p.t.tiers); d, tier = b.p.t.parent[d], tier+1 {
			b.work++
			c := b.number[d]
			if c == 0 {
				continue
			}
			row := b.row(int(c) - 1)
			for _, p := range a.f.pairs {
				for k := range pulls {
					switch b.p.kinds[k].class {
					case p.a:
						pulls[k] += b.p.weights[tier] * p.weight * int64(row[p.b])
					case p.b:
						pulls[k] += b.p.weights[tier] * p.weight * int64(row[p.a])
					}
				}
			}
		}
	}
}

// move takes members of each kind from where they are pulled least to where they are pulled most.
func (a *attraction) move() (moved bool) {
	b := a.b
	for k := range b.kinds {
		from, to := -1, -1
		for i, n := range a.nodes {
			pull := a.pulls[i*b.kinds+k]
			if b.countOn(n, k) > 0 && (from < 0 || pull < a.pulls[from*b.kinds+k]) {
				from = i
			}
			if (to < 0 || pull > a.pulls[to*b.kinds+k]) && b.room(n, k) > 0 {
				to = i
			}
		}
		if from < 0 || to < 0 || a.pulls[from*b.kinds+k] >= a.pulls[to*b.kinds+k] {
			continue
		}
		n := min(b.countOn(a.nodes[from], k), b.room(a.nodes[to], k))
		b.add(a.nodes[from], k, -n)
		b.add(a.nodes[to], k, n)
		if b.kinds > 1 {
			return true // pulls on other kinds have changed
		}
		moved = true
	}
	return moved
}

// swap exchanges the two members that gain most by it, of those where the first is on the node that comes first.
func (a *attraction) swap() bool {
	b := a.b
	for i, n := range a.nodes {
		best, gain := swapping{}, int64(0)
		for k := range b.kinds {
			if b.countOn(n, k) == 0 {
				continue
			}
			for j, m := range a.nodes {
				for other := range b.kinds {
					b.work++
					if i == j || other == k || b.countOn(m, other) == 0 {
						continue
					}
					g := a.gain(i, j, k, other)
					if g > gain && b.fitSwap(n, m, k, other) {
						best, gain = swapping{n, m, k, other}, g
					}
				}
			}
		}
		if gain > 0 {
			b.swap(best)
			return true
		}
	}
	return false
}

type swapping struct {
	a, b   NodeID
	ka, kb int
}

func (b *board) swap(s swapping) {
	b.add(s.a, s.ka, -1)
	b.add(s.b, s.kb, -1)
	b.add(s.a, s.kb, 1)
	b.add(s.b, s.ka, 1)
}

// gain of an exchange of one member of kind k on the i-th node with one of another kind on the j-th.
func (a *attraction) gain(i, j, k, other int) int64 {
	kinds := a.b.kinds
	gain := a.pulls[j*kinds+k] - a.pulls[i*kinds+k] + a.pulls[i*kinds+other] - a.pulls[j*kinds+other]
	if gain <= 0 {
		return gain
	}
	weight := a.f.between(a.b.p.kinds[k].class, a.b.p.kinds[other].class)
	u, v, tier := DomainID(a.nodes[i]), DomainID(a.nodes[j]), NodeTier
	for ; u != v; u, v, tier = a.b.p.t.parent[u], a.b.p.t.parent[v], tier+1 {
	}
	return gain - 2*weight*a.apart[tier]
}

// between is the weight of a pair of members of two classes.
func (f *flows) between(a, b int) int64 {
	for _, p := range f.pairs {
		if p.a == a && p.b == b || p.a == b && p.b == a {
			return p.weight
		}
	}
	return 0
}

// fitSwap says whether one member of kind k on node n has room on m for one of another kind there, and the other way round.
func (b *board) fitSwap(n, m NodeID, k, other int) bool {
	p := b.p
	if p.kinds[other].shape.fit[n] == 0 || p.kinds[k].shape.fit[m] == 0 {
		return false
	}
	leftN, leftM := b.free(int(b.number[n])-1), b.free(int(b.number[m])-1)
	a, c := p.kinds[k].request, p.kinds[other].request
	for r := range a {
		if leftN[r]+a[r]-c[r] < 0 && c[r] > 0 || leftM[r]+c[r]-a[r] < 0 && a[r] > 0 {
			return false
		}
	}
	return true
}
