// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"math"
	"slices"
)

// MaxFit means any number: a request of nothing always fits.
const MaxFit = 1 << 20

// buckets is the length of a histogram of fits; its last bucket counts all nodes that hold that many or more.
const buckets = 33

// Shape is how many pods of one request fit, on each node and summed over domains. It is updated as nodes change,
// so that planning a job like an earlier one needs no walk over all nodes.
type Shape struct {
	request []int64
	fit     []int32          // of each node
	sum     []int64          // of each domain above the nodes: sum[d-nodes]
	nodes   [][buckets]int32 // of each domain above the nodes: how many nodes hold 0, 1, 2, ... pods
	used    uint64
}

// capacityIndex holds the shapes used last.
type capacityIndex struct {
	t      *Topology
	shapes []*Shape
	clock  uint64
}

// maxShapes bounds what one change of a node costs.
const maxShapes = 32

// shape of a request: from the index, or built by one walk over the nodes.
func (x *capacityIndex) shape(request []int64) *Shape {
	x.clock++
	oldest := 0
	for i, s := range x.shapes {
		if slices.Equal(s.request, request) {
			s.used = x.clock
			return s
		}
		if s.used < x.shapes[oldest].used {
			oldest = i
		}
	}
	s := NewShape(x.t, request, nil)
	s.used = x.clock
	if len(x.shapes) < maxShapes {
		x.shapes = append(x.shapes, s)
	} else {
		x.shapes[oldest] = s
	}
	return s
}

// NewShape walks over all nodes; those that eligible leaves out hold nothing.
func NewShape(t *Topology, request []int64, eligible *NodeSet) *Shape {
	nodes := t.Nodes()
	above := len(t.parent) - nodes
	s := &Shape{request: slices.Clone(request), fit: make([]int32, nodes), sum: make([]int64, above), nodes: make([][buckets]int32, above)}
	for n := range nodes {
		if eligible.Has(NodeID(n)) {
			s.fit[n] = Fits(t.Free(DomainID(n)), request)
		}
		leaf := int(t.parent[n]) - nodes
		s.nodes[leaf][Bucket(s.fit[n])]++
		s.sum[leaf] += int64(s.fit[n])
	}
	for d := range above { // children come before their parents
		if p := int(t.parent[nodes+d]) - nodes; p >= 0 {
			s.sum[p] += s.sum[d]
			for b, count := range s.nodes[d] {
				s.nodes[p][b] += count
			}
		}
	}
	return s
}

func (x *capacityIndex) update(node NodeID) {
	free := x.t.Free(DomainID(node))
	nodes := x.t.Nodes()
	for _, s := range x.shapes {
		was, is := s.fit[node], Fits(free, s.request)
		if was == is {
			continue
		}
		s.fit[node] = is
		for d := x.t.parent[node]; d != NoDomain; d = x.t.parent[d] {
			i := int(d) - nodes
			s.sum[i] += int64(is) - int64(was)
			s.nodes[i][Bucket(was)]--
			s.nodes[i][Bucket(is)]++
		}
	}
}

// Fits returns how often a request fits into what is free.
func Fits(free, request []int64) int32 {
	count := int64(MaxFit)
	for r, amount := range request {
		if amount <= 0 {
			continue
		}
		if free[r] < amount {
			return 0
		}
		if amount > math.MaxInt64/MaxFit || free[r] < count*amount { // no division where a product suffices
			count = min(count, free[r]/amount)
		}
	}
	return int32(count)
}

// Bucket returns the bucket of a histogram that a number of pods is in.
func Bucket(fit int32) int { return int(min(fit, buckets-1)) }

// Sum returns how many pods fit into a domain, each node for itself.
func (s *Shape) Sum(d DomainID) int64 {
	if int(d) < len(s.fit) {
		return int64(s.fit[d])
	}
	return s.sum[int(d)-len(s.fit)]
}

// MostOnNode returns the most pods that one node of a domain holds, up to buckets-1.
func (s *Shape) MostOnNode(d DomainID) int {
	if int(d) < len(s.fit) {
		return Bucket(s.fit[d])
	}
	h := &s.nodes[int(d)-len(s.fit)]
	for b := buckets - 1; b > 0; b-- {
		if h[b] > 0 {
			return b
		}
	}
	return 0
}

// NodesFor returns the least number of nodes of a domain above nodes that hold the given number of members.
func (s *Shape) NodesFor(d DomainID, members int64) int64 {
	h := &s.nodes[int(d)-len(s.fit)]
	var nodes int64
	for b := buckets - 1; b > 0 && members > 0; b-- {
		if h[b] == 0 {
			continue
		}
		n := min(int64(h[b]), (members+int64(b)-1)/int64(b))
		nodes += n
		members -= n * int64(b)
	}
	return nodes
}

// NodesHolding returns how many nodes of a domain hold that many pods, the last bucket being "or more".
func (s *Shape) NodesHolding(d DomainID, fit int) int32 {
	if int(d) < len(s.fit) {
		if Bucket(s.fit[d]) == fit {
			return 1
		}
		return 0
	}
	return s.nodes[int(d)-len(s.fit)][fit]
}

// Fit is how many pods fit on a node.
func (s *Shape) Fit(node NodeID) int32 { return s.fit[node] }

// Shape is how many pods of a request fit, from the index of the requests used last.
func (t *Topology) Shape(request []int64) *Shape { return t.index.shape(request) }

// ShapeOn is Shape on eligible nodes only; nil is all of them.
func (t *Topology) ShapeOn(request []int64, eligible *NodeSet) *Shape {
	if eligible == nil {
		return t.Shape(request)
	}
	return NewShape(t, request, eligible)
}

// NodeSet is a set of nodes of one Topology.
type NodeSet struct{ bits []uint64 }

// NewNodeSet returns an empty set for a topology's nodes.
func NewNodeSet(t *Topology) *NodeSet { return &NodeSet{bits: make([]uint64, (t.Nodes()+63)/64)} }

// Add adds a node.
func (s *NodeSet) Add(node NodeID) { s.bits[node/64] |= 1 << (node % 64) }

// Remove removes a node.
func (s *NodeSet) Remove(node NodeID) { s.bits[node/64] &^= 1 << (node % 64) }

// Has reports whether a node is in the set; nil is the set of all nodes.
func (s *NodeSet) Has(node NodeID) bool { return s == nil || s.bits[node/64]&(1<<(node%64)) != 0 }

// And returns the nodes of both sets; nil is the set of all nodes. The sets are not changed.
func (s *NodeSet) And(other *NodeSet) *NodeSet {
	switch {
	case s == nil:
		return other
	case other == nil || other == s:
		return s
	}
	both := &NodeSet{bits: make([]uint64, len(other.bits))}
	for i, bits := range other.bits {
		both.bits[i] = bits & s.bits[i]
	}
	return both
}

// NodesIn returns a new set of the nodes of a domain.
func (t *Topology) NodesIn(d DomainID) *NodeSet {
	s := NewNodeSet(t)
	lo, hi := t.NodesOf(d)
	for node := lo; node < hi; node++ {
		s.Add(node)
	}
	return s
}

// For reports whether a set has the size that sets of a topology's nodes have.
func (s *NodeSet) For(t *Topology) bool { return len(s.bits) == (t.Nodes()+63)/64 }

// Sums are sums over some domains of a topology, without a walk over all of them. They borrow the topology's numbers; Close
// returns these.
type Sums struct {
	// Domains that something was added to, in that order, and their sums.
	Domains []DomainID
	Values  []int64

	t      *Topology
	number []int32 // of each domain: its place + 1, or 0
}

// NewSums returns sums that are all 0.
func NewSums(t *Topology) *Sums { return &Sums{t: t, number: t.Borrow()} }

// Borrow returns as many zeros as there are domains. The caller sets them to 0 and returns them when it is done.
func (t *Topology) Borrow() []int32 {
	numbers := t.numbers
	if numbers == nil {
		return make([]int32, len(t.parent))
	}
	t.numbers = nil
	return numbers
}

// Add adds to the sum of a domain.
func (a *Sums) Add(d DomainID, n int64) {
	place := a.number[d]
	if place == 0 {
		a.Domains = append(a.Domains, d)
		a.Values = append(a.Values, 0)
		place = int32(len(a.Domains))
		a.number[d] = place
	}
	a.Values[place-1] += n
}

// Close returns the topology's numbers; the sums must not be used afterwards.
func (a *Sums) Close() {
	for _, d := range a.Domains {
		a.number[d] = 0
	}
	a.t.Return(a.number)
}

// Return returns what Borrow gave.
func (t *Topology) Return(numbers []int32) { t.numbers = numbers }

// Index returns the position in Domains and Values of a domain that something was added to.
func (a *Sums) Index(d DomainID) int { return int(a.number[d]) - 1 }
