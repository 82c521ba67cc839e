// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// board is a plan in the making: how many of each kind are on each node, and what that costs. A cell is a domain that holds
// members; only those are looked at, so work grows with the job and not with the cluster.
type board struct {
	p       *problem
	kinds   int
	number  []int32 // of each domain: its cell's number + 1, or 0
	cells   []cell
	rows    []int32 // cell-major: members of each class, with those placed before
	counts  []int32 // cell-major, of cells that are nodes: members of each kind
	left    []int64 // cell-major, of cells that are nodes: what is still free
	waiting []int32 // members of each kind that have no node
	sum     value   // without busy, which busiest works out
	work    int     // cells looked at since the last reset
	lazy    bool    // costs are worked out by settle, and not with each change
	scratch []int32
}

type cell struct {
	domain DomainID
	tier   int
	cost   value // of the border, and for nodes of what is inside
}

// newBoard borrows the topology's numbers of cells; close gives them back.
func newBoard(p *problem) *board {
	b := &board{p: p, kinds: len(p.kinds), number: p.t.borrow(), scratch: make([]int32, max(p.classes, len(p.kinds)))}
	for k := range p.kinds {
		b.waiting = append(b.waiting, p.kinds[k].count)
	}
	b.base()
	return b
}

// base puts the members on the board that were placed before.
func (b *board) base() {
	for _, f := range b.p.fixed {
		for d, tier := DomainID(f.node), NodeTier; d != NoDomain; d, tier = b.p.t.parent[d], tier+1 {
			c := b.cell(d, tier)
			if f.class >= 0 {
				b.rows[c*b.p.classes+f.class]++
			}
		}
	}
	for c := range b.cells {
		b.price(c)
	}
}

func (b *board) close() {
	b.wipe()
	b.p.t.numbers = b.number
}

func (b *board) wipe() {
	for i := range b.cells {
		b.number[b.cells[i].domain] = 0
	}
	b.cells, b.rows, b.counts, b.left, b.sum = b.cells[:0], b.rows[:0], b.counts[:0], b.left[:0], value{}
}

// reset takes all members off the board.
func (b *board) reset() {
	b.wipe()
	for k := range b.waiting {
		b.waiting[k] = b.p.kinds[k].count
	}
	b.base()
}

func (b *board) cell(d DomainID, tier int) int {
	if n := b.number[d]; n > 0 {
		return int(n) - 1
	}
	b.cells = append(b.cells, cell{domain: d, tier: tier})
	b.number[d] = int32(len(b.cells))
	b.rows = grown(b.rows, b.p.classes)
	b.counts = grown(b.counts, b.kinds)
	free := b.p.t.Free(d)
	b.left = append(b.left, free...)
	return len(b.cells) - 1
}

func grown(s []int32, n int) []int32 {
	s = slices.Grow(s, n)[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}

func (b *board) row(c int) []int32 { return b.rows[c*b.p.classes : (c+1)*b.p.classes] }

func (b *board) count(c int) []int32 { return b.counts[c*b.kinds : (c+1)*b.kinds] }

// price works a cell's cost out anew.
func (b *board) price(c int) {
	cell := &b.cells[c]
	b.work++
	var is value
	if cell.tier == NodeTier {
		is = b.p.leaf(NodeID(cell.domain), b.row(c))
		is.penalty, is.harm = cell.cost.penalty, cell.cost.harm
	} else {
		is = b.p.uplink(cell.domain, cell.tier, b.row(c))
	}
	is.lonely = b.p.lonely(cell.domain, cell.tier, b.row(c))
	b.sum.bytes += is.bytes - cell.cost.bytes
	b.sum.lonely += is.lonely - cell.cost.lonely
	cell.cost = is
}

// add puts n members of a kind on a node; below 0 takes them off. Capacity is the caller's concern.
func (b *board) add(node NodeID, k int, n int32) {
	kind := &b.p.kinds[k]
	b.p.stop.count(1)
	b.waiting[k] -= n
	for d, tier := DomainID(node), NodeTier; d != NoDomain; d, tier = b.p.t.parent[d], tier+1 {
		c := b.cell(d, tier)
		if tier == NodeTier {
			count := b.count(c)
			count[k] += n
			left := b.free(c)
			for _, need := range kind.needs {
				left[need.resource] -= int64(n) * need.amount
			}
			if !b.lazy {
				b.local(c, node, count)
			}
		}
		if kind.class >= 0 {
			b.rows[c*b.p.classes+kind.class] += n
			if !b.lazy {
				b.price(c)
			}
		}
	}
}

// settle works out all costs after a lazy phase.
func (b *board) settle() {
	b.lazy = false
	for c := range b.cells {
		if b.cells[c].tier == NodeTier {
			b.local(c, NodeID(b.cells[c].domain), b.count(c))
		}
		b.price(c)
	}
}

// local is what a node costs apart from traffic.
func (b *board) local(c int, node NodeID, count []int32) {
	cost := &b.cells[c].cost
	penalty := int64(0)
	for k, n := range count {
		if of := b.p.kinds[k].penalty; of != nil {
			penalty += int64(n) * int64(of[node])
		}
	}
	harm := b.p.harm(node, count)
	b.sum.penalty += penalty - cost.penalty
	b.sum.harm += harm - cost.harm
	cost.penalty, cost.harm = penalty, harm
}

// room is how many more of a kind a node can take.
func (b *board) room(node NodeID, k int) int32 {
	kind := &b.p.kinds[k]
	room := kind.shape.fit[node]
	n := b.number[node]
	if n == 0 || room == 0 {
		return room
	}
	left := b.free(int(n) - 1)
	for _, need := range kind.needs {
		if have := left[need.resource]; have < int64(room)*need.amount {
			if room = int32(max(0, have) / need.amount); room == 0 {
				return 0
			}
		}
	}
	return room
}

// free is what is left on a node that has a cell.
func (b *board) free(c int) []int64 {
	r := len(b.p.t.resources)
	return b.left[c*r : (c+1)*r]
}

// gain is by how many priced bytes a plan grows if n more members of a kind go to a node; workers without the server that
// they must have count as more than any bytes.
func (b *board) gain(node NodeID, k int, n int32) int64 {
	class := b.p.kinds[k].class
	if class < 0 || b.p.unit == 0 {
		return 0
	}
	var sum int64
	b.p.stop.count(1)
	for d, tier := DomainID(node), NodeTier; tier < len(b.p.t.tiers); d, tier = b.p.t.parent[d], tier+1 {
		b.work++
		row := b.scratch[:b.p.classes]
		was, lonely := int64(0), int64(0)
		if c := b.number[d]; c > 0 {
			copy(row, b.row(int(c)-1))
			was, lonely = b.cells[c-1].cost.bytes, b.cells[c-1].cost.lonely
		} else {
			clear(row)
		}
		row[class] += n
		if tier == NodeTier {
			sum += b.p.leaf(node, row).bytes - was
		} else {
			sum += b.p.weights[tier]*b.p.traffic.load(d, row) - was
		}
		if tier == b.p.coloc {
			sum += (b.p.lonely(d, tier, row) - lonely) << 40
		}
	}
	return sum
}

// value of the whole board.
func (b *board) value() value {
	v := b.sum
	for i := range b.cells {
		v.busy = max(v.busy, b.cells[i].cost.busy)
	}
	b.work += len(b.cells)
	return v
}

// complete says whether everybody has a node.
func (b *board) complete() bool {
	for _, n := range b.waiting {
		if n > 0 {
			return false
		}
	}
	return true
}

// nodes are those that hold members to place, ascending, and how many of each kind, node-major.
func (b *board) nodes() (nodes []NodeID, counts []int32) {
	for c := range b.cells {
		if b.cells[c].tier == NodeTier && slices.Max(b.count(c)) > 0 {
			nodes = append(nodes, NodeID(b.cells[c].domain))
		}
	}
	slices.Sort(nodes)
	for _, n := range nodes {
		counts = append(counts, b.count(int(b.number[n])-1)...)
	}
	return nodes, counts
}

// set puts members on an empty board as nodes() gave them.
func (b *board) set(nodes []NodeID, counts []int32) {
	for i, n := range nodes {
		for k := range b.kinds {
			if c := counts[i*b.kinds+k]; c > 0 {
				b.add(n, k, c)
			}
		}
	}
}
