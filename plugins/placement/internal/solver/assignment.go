// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// partialAssignment is a partial plan: how many of each pod class are on each node, and what that costs. A domain state is a domain that holds
// members; only those are visited, so work grows with the job and not with the cluster.
type partialAssignment struct {
	p          *problem
	podClasses int
	position   []int32 // of each domain: its domain state's number + 1, or 0
	states     []domainState
	rows       []int32 // domain state-major: members of each class, with those placed before
	counts     []int32 // domain state-major, of domain states that are nodes: members of each pod class
	leftover   []int64 // domain state-major, of domain states that are nodes: what is still free
	waiting    []int32 // members of each pod class that have no node
	sum        value   // without busy, which busiest computes
	work       int     // domain states visited since the last reset
	lazy       bool    // costs are computed by recompute, and not with each change
	split      bool    // parallel groups need not stay together
	scratch    []int32
}

type domainState struct {
	domain tree.DomainID
	tier   int
	cost   value // of the border, and for nodes of what is inside
}

// newPartialAssignment borrows the topology's numbers of domain states; close returns them.
func newPartialAssignment(p *problem) *partialAssignment {
	b := &partialAssignment{p: p, podClasses: len(p.podClasses), position: p.t.Borrow(), scratch: make([]int32, max(p.classes, len(p.podClasses)))}
	for k := range p.podClasses {
		b.waiting = append(b.waiting, p.podClasses[k].count)
	}
	b.base()
	return b
}

// base puts the members on the assignment that were placed before.
func (b *partialAssignment) base() {
	for _, f := range b.p.fixed {
		for d, tier := tree.DomainID(f.node), tree.NodeTier; d != tree.NoDomain; d, tier = b.p.t.Parent(d), tier+1 {
			c := b.state(d, tier)
			if f.class >= 0 {
				b.rows[c*b.p.classes+f.class]++
			}
		}
	}
	for c := range b.states {
		b.updateCost(c)
	}
}

func (b *partialAssignment) close() {
	b.wipe()
	b.p.t.Return(b.position)
}

func (b *partialAssignment) wipe() {
	for i := range b.states {
		b.position[b.states[i].domain] = 0
	}
	b.states, b.rows, b.counts, b.leftover, b.sum = b.states[:0], b.rows[:0], b.counts[:0], b.leftover[:0], value{}
}

// reset takes all members off the assignment.
func (b *partialAssignment) reset() {
	b.wipe()
	for k := range b.waiting {
		b.waiting[k] = b.p.podClasses[k].count
	}
	b.base()
}

func (b *partialAssignment) state(d tree.DomainID, tier int) int {
	if n := b.position[d]; n > 0 {
		return int(n) - 1
	}
	b.states = append(b.states, domainState{domain: d, tier: tier})
	b.position[d] = int32(len(b.states))
	b.rows = grown(b.rows, b.p.classes)
	b.counts = grown(b.counts, b.podClasses)
	free := b.p.t.Free(d)
	b.leftover = append(b.leftover, free...)
	return len(b.states) - 1
}

func (b *partialAssignment) row(c int) []int32 { return b.rows[c*b.p.classes : (c+1)*b.p.classes] }

func (b *partialAssignment) count(c int) []int32 {
	return b.counts[c*b.podClasses : (c+1)*b.podClasses]
}

// updateCost computes a domain state's cost again.
func (b *partialAssignment) updateCost(c int) {
	state := &b.states[c]
	b.work++
	var is value
	if state.tier == tree.NodeTier {
		is = b.p.leaf(tree.NodeID(state.domain), b.row(c))
		is.penalty, is.fragmentation = state.cost.penalty, state.cost.fragmentation
	} else {
		is = b.p.uplink(state.domain, state.tier, b.row(c))
	}
	is.workersWithoutServer = b.p.workersWithoutServer(state.domain, state.tier, b.row(c))
	b.sum.bytes += is.bytes - state.cost.bytes
	b.sum.workersWithoutServer += is.workersWithoutServer - state.cost.workersWithoutServer
	state.cost = is
}

// add puts n members of a pod class on a node; below 0 takes them off. The caller checks capacity.
func (b *partialAssignment) add(node tree.NodeID, k int, n int32) {
	kind := &b.p.podClasses[k]
	b.p.stop.count(1)
	b.waiting[k] -= n
	for d, tier := tree.DomainID(node), tree.NodeTier; d != tree.NoDomain; d, tier = b.p.t.Parent(d), tier+1 {
		c := b.state(d, tier)
		if tier == tree.NodeTier {
			count := b.count(c)
			count[k] += n
			left := b.left(c)
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
				b.updateCost(c)
			}
		}
	}
}

// recompute computes all costs after a lazy phase.
func (b *partialAssignment) recompute() {
	b.lazy = false
	for c := range b.states {
		if b.states[c].tier == tree.NodeTier {
			b.local(c, tree.NodeID(b.states[c].domain), b.count(c))
		}
		b.updateCost(c)
	}
}

// local is what a node costs apart from traffic.
func (b *partialAssignment) local(c int, node tree.NodeID, count []int32) {
	cost := &b.states[c].cost
	penalty := int64(0)
	for k, n := range count {
		if of := b.p.podClasses[k].penalty; of != nil {
			penalty += int64(n) * int64(of[node])
		}
	}
	fragmentation := b.p.fragmentation(node, count)
	b.sum.penalty += penalty - cost.penalty
	b.sum.fragmentation += fragmentation - cost.fragmentation
	cost.penalty, cost.fragmentation = penalty, fragmentation
}

// capacity is how many more of a pod class a node can take.
func (b *partialAssignment) capacity(node tree.NodeID, k int) int32 {
	kind := &b.p.podClasses[k]
	fit := kind.shape.Fit(node)
	n := b.position[node]
	if n == 0 || fit == 0 {
		return fit
	}
	left := b.left(int(n) - 1)
	for _, need := range kind.needs {
		if have := left[need.resource]; have < int64(fit)*need.amount {
			if fit = int32(max(0, have) / need.amount); fit == 0 {
				return 0
			}
		}
	}
	return fit
}

func (b *partialAssignment) left(c int) []int64 {
	r := len(b.p.t.Resources())
	return b.leftover[c*r : (c+1)*r]
}

// gain is by how many weighted bytes a plan grows if n more members of a pod class go to a node; workers without a required
// server count as more than any bytes.
func (b *partialAssignment) gain(node tree.NodeID, k int, n int32) int64 {
	class := b.p.podClasses[k].class
	if class < 0 || b.p.unit == 0 {
		return 0
	}
	var sum int64
	b.p.stop.count(1)
	for d, tier := tree.DomainID(node), tree.NodeTier; tier < len(b.p.t.Tiers()); d, tier = b.p.t.Parent(d), tier+1 {
		b.work++
		row := b.scratch[:b.p.classes]
		was, without := int64(0), int64(0)
		if c := b.position[d]; c > 0 {
			copy(row, b.row(int(c)-1))
			was, without = b.states[c-1].cost.bytes, b.states[c-1].cost.workersWithoutServer
		} else {
			clear(row)
		}
		row[class] += n
		if tier == tree.NodeTier {
			sum += b.p.leaf(node, row).bytes - was
		} else {
			sum += b.p.weights[tier]*b.p.traffic.Load(d, row) - was
		}
		if tier == b.p.colocationTier {
			sum += (b.p.workersWithoutServer(d, tier, row) - without) << 40
		}
	}
	return sum
}

func (b *partialAssignment) value() value {
	v := b.sum
	for i := range b.states {
		v.busy = max(v.busy, b.states[i].cost.busy)
	}
	b.work += len(b.states)
	return v
}

func (b *partialAssignment) complete() bool {
	return !slices.ContainsFunc(b.waiting, func(n int32) bool { return n > 0 })
}

// nodes are those that hold members to place, ascending, and how many of each pod class, node-major.
func (b *partialAssignment) nodes() (nodes []tree.NodeID, counts []int32) {
	for c := range b.states {
		if b.states[c].tier == tree.NodeTier && slices.Max(b.count(c)) > 0 {
			nodes = append(nodes, tree.NodeID(b.states[c].domain))
		}
	}
	slices.Sort(nodes)
	for _, n := range nodes {
		counts = append(counts, b.count(int(b.position[n])-1)...)
	}
	return nodes, counts
}

// set puts members on an empty assignment as nodes() gave them.
func (b *partialAssignment) set(nodes []tree.NodeID, counts []int32) {
	for i, n := range nodes {
		for k := range b.podClasses {
			if c := counts[i*b.podClasses+k]; c > 0 {
				b.add(n, k, c)
			}
		}
	}
}

func grown(s []int32, n int) []int32 {
	s = slices.Grow(s, n)[:len(s)+n]
	clear(s[len(s)-n:])
	return s
}

// within are those of the nodes that a job may use which uses another one.
func (p *problem) within(nodes []tree.NodeID, used tree.NodeID) []tree.NodeID {
	if p.limit == 0 {
		return nodes
	}
	domain := p.t.Ancestor(used, p.limit)
	return slices.DeleteFunc(slices.Clone(nodes), func(n tree.NodeID) bool { return !p.t.Holds(domain, n) })
}

// open are those of the nodes that have capacity for a member.
func (b *partialAssignment) open(nodes []tree.NodeID) (open []tree.NodeID) {
	for _, n := range nodes {
		for k := range b.podClasses {
			if b.capacity(n, k) > 0 {
				open = append(open, n)
				break
			}
		}
	}
	return open
}

const maxNeighbors = 32

// neighbors are unused nodes next to those in use: of each of the lowest domains in use, the two with most capacity.
func (b *partialAssignment) neighbors() (near []tree.NodeID) {
	p := b.p
	for c := range b.states {
		if b.states[c].tier != tree.NodeTier+1 || len(near) >= maxNeighbors*p.effort {
			continue
		}
		lo, hi := p.t.NodesOf(b.states[c].domain)
		var best [2]tree.NodeID
		var most [2]int32
		for n := lo; n < hi; n++ {
			if b.position[n] > 0 {
				continue
			}
			fit := int32(0)
			for k := range p.podClasses {
				fit += min(p.podClasses[k].count, p.podClasses[k].shape.Fit(n))
			}
			switch {
			case fit > most[0]:
				best, most = [2]tree.NodeID{n, best[0]}, [2]int32{fit, most[0]}
			case fit > most[1]:
				best[1], most[1] = n, fit
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

func union(a, b []tree.NodeID) []tree.NodeID {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}
