// SPDX-License-Identifier: Apache-2.0

package placement

// packWork bounds the table of pack.
const packWork = 1 << 21

// pack places two roles that compete for the same nodes, where descent ran into a corner: over the nodes one by one, the
// most members of the second role beside each number of members of the first. It finds room if there is any, and looks
// at no cost. It works for two roles only.
func (b *board) pack(lo, hi NodeID) bool {
	lots := b.p.lots()
	if len(lots) != 2 {
		return false
	}
	first, second := &lots[0], &lots[1]
	rows := int(first.want) + 1
	var nodes []NodeID
	work := 0
	for n := lo; n < hi; n++ {
		if first.shape.fit[n] > 0 || second.shape.fit[n] > 0 {
			nodes = append(nodes, n)
			work += rows * (int(min(first.shape.fit[n], first.want)) + 1)
		}
	}
	if work > packWork*b.p.effort {
		return false
	}
	const none = -1
	most := make([]int32, rows)
	for a := range most {
		most[a] = none
	}
	most[0] = 0
	choice := make([]int32, len(nodes)*rows)
	next := make([]int32, rows)
	for i, n := range nodes {
		room := b.pairs(n, first, second)
		for a := range next {
			next[a] = none
			for own := 0; own <= a && own < len(room); own++ {
				if before := most[a-own]; before >= 0 && room[own] >= 0 && before+room[own] > next[a] {
					next[a] = before + room[own]
					choice[i*rows+a] = int32(own)
				}
			}
		}
		most, next = next, most
	}
	if most[rows-1] < second.want {
		return false
	}
	b.reset()
	for i, a := len(nodes)-1, int32(rows-1); i >= 0; i-- {
		own := choice[i*rows+int(a)]
		b.put(nodes[i], first, own)
		a -= own
	}
	for _, n := range nodes {
		if b.mayHold(n, second) {
			b.put(n, second, second.want)
		}
	}
	return b.complete()
}

// pairs are, for each number of members of the first role on a node, how many of the second fit beside them.
func (b *board) pairs(n NodeID, first, second *lot) []int32 {
	p := b.p
	free := p.t.Free(DomainID(n))
	room := make([]int32, min(first.shape.fit[n], first.want)+1)
	a, c := p.request(first), p.request(second)
	for own := range room {
		room[own] = min(second.shape.fit[n], second.want)
		for r, amount := range c {
			if amount > 0 && room[own] > 0 {
				room[own] = min(room[own], int32(min(maxFit, max(0, free[r]-int64(own)*a[r])/amount)))
			}
		}
	}
	if p.coloc == NodeTier && p.kinds[first.kinds[0]].class == serverClass && !b.serves(n) {
		room[0] = 0
	}
	return room
}

// mayHold says whether a role may be on a node, as far as it must have a server there.
func (b *board) mayHold(n NodeID, l *lot) bool {
	return b.p.coloc != NodeTier || b.p.kinds[l.kinds[0]].class <= serverClass || b.serves(n)
}

// serves says whether a node holds a server.
func (b *board) serves(n NodeID) bool {
	c := b.number[n]
	return c > 0 && b.row(int(c) - 1)[serverClass] > 0
}
