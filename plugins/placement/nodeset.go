// SPDX-License-Identifier: Apache-2.0

package placement

// NodeSet is a set of nodes of one Topology.
type NodeSet struct{ bits []uint64 }

// NewNodeSet is an empty set for a topology's nodes.
func NewNodeSet(t *Topology) *NodeSet { return &NodeSet{bits: make([]uint64, (t.Nodes()+63)/64)} }

// Add a node.
func (s *NodeSet) Add(node NodeID) { s.bits[node/64] |= 1 << (node % 64) }

// Remove a node.
func (s *NodeSet) Remove(node NodeID) { s.bits[node/64] &^= 1 << (node % 64) }

// Has says whether a node is in the set.
func (s *NodeSet) Has(node NodeID) bool { return s.bits[node/64]&(1<<(node%64)) != 0 }

// and is what two sets have both; a nil set has all nodes.
func (s *NodeSet) and(other *NodeSet) *NodeSet {
	both := &NodeSet{bits: make([]uint64, len(other.bits))}
	for i, bits := range other.bits {
		if both.bits[i] = bits; s != nil {
			both.bits[i] &= s.bits[i]
		}
	}
	return both
}
