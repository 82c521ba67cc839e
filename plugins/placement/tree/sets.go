// SPDX-License-Identifier: Apache-2.0

package tree

// NodeSet is a set of nodes of one Topology.
type NodeSet struct{ bits []uint64 }

// NewNodeSet returns an empty set for a topology's nodes.
func NewNodeSet(t *Topology) *NodeSet { return &NodeSet{bits: make([]uint64, (t.Nodes()+63)/64)} }

// Add adds a node.
func (s *NodeSet) Add(node NodeID) { s.bits[node/64] |= 1 << (node % 64) }

// Remove removes a node.
func (s *NodeSet) Remove(node NodeID) { s.bits[node/64] &^= 1 << (node % 64) }

// Has reports whether a node is in the set.
func (s *NodeSet) Has(node NodeID) bool { return s.bits[node/64]&(1<<(node%64)) != 0 }

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

// Borrow returns as many zeros as there are domains. Whoever is done with them sets them to 0 and returns them.
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

// Of returns the sum of a domain.
func (a *Sums) Of(d DomainID) int64 {
	if place := a.number[d]; place > 0 {
		return a.Values[place-1]
	}
	return 0
}

// Close returns the topology's numbers; the sums must not be used afterwards.
func (a *Sums) Close() {
	for _, d := range a.Domains {
		a.number[d] = 0
	}
	a.t.Return(a.number)
}

// Return takes back what Borrow gave.
func (t *Topology) Return(numbers []int32) { t.numbers = numbers }

// Index returns the position in Domains and Values of a domain that something was added to.
func (a *Sums) Index(d DomainID) int { return int(a.number[d]) - 1 }
