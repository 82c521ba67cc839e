// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// allowed are those of the nodes that are in the domain that the job may not leave.
func (b *board) allowed(nodes []NodeID) []NodeID {
	p := b.p
	used, _ := b.nodes()
	if p.limit == 0 || len(used) == 0 {
		return nodes
	}
	domain := p.t.Ancestor(used[0], p.limit)
	return slices.DeleteFunc(nodes, func(n NodeID) bool { return !p.t.Holds(domain, n) })
}

// open are those of the nodes that have room for someone.
func (b *board) open(nodes []NodeID) (open []NodeID) {
	for _, n := range nodes {
		for k := range b.kinds {
			if b.room(n, k) > 0 {
				open = append(open, n)
				break
			}
		}
	}
	return open
}

const maxNeighbours = 32

// neighbours are unused nodes beside those in use: of each of the lowest domains in use, the two with most room.
func (b *board) neighbours() (near []NodeID) {
	p := b.p
	for c := range b.cells {
		if b.cells[c].tier != NodeTier+1 || len(near) >= maxNeighbours*p.effort {
			continue
		}
		lo, hi := p.t.NodesOf(b.cells[c].domain)
		var best [2]NodeID
		var most [2]int32
		for n := lo; n < hi; n++ {
			if b.number[n] > 0 {
				continue
			}
			room := int32(0)
			for k := range p.kinds {
				room += min(p.kinds[k].count, p.kinds[k].shape.fit[n])
			}
			switch {
			case room > most[0]:
				best, most = [2]NodeID{n, best[0]}, [2]int32{room, most[0]}
			case room > most[1]:
				best[1], most[1] = n, room
			}
		}
		for i := range best {
			if most[i] > 0 {
				near = append(near, best[i])
			}
		}
	}
	return near
}

func union(a, b []NodeID) []NodeID {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
