// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"
	"strings"
)

// Nodes is the number of nodes.
func (t *Topology) Nodes() int { return int(t.first[NodeTier+1]) }

// Node finds a node by name.
func (t *Topology) Node(name string) (NodeID, bool) {
	id, ok := t.byName[name]
	return id, ok
}

// NodeName is the name of a node.
func (t *Topology) NodeName(node NodeID) string { return t.name[node] }

// Resources are the names of the columns of vectors of amounts. The caller must not change them.
func (t *Topology) Resources() []string { return t.resources }

// Tiers from the island tier upwards. The caller must not change them.
func (t *Topology) Tiers() []Tier { return t.tiers }

// Free amounts of a domain: of a node, or summed over the nodes of a domain above. The caller must not change them.
func (t *Topology) Free(d DomainID) []int64 {
	r := len(t.resources)
	return t.free[int(d)*r : (int(d)+1)*r : (int(d)+1)*r]
}

// FreeGPUs is the number of free accelerators of a domain.
func (t *Topology) FreeGPUs(d DomainID) int64 { return t.gpusOf(t.Free(d)) }

func (t *Topology) gpusOf(amounts []int64) int64 {
	var sum int64
	for _, r := range t.accelerators {
		sum += max(0, amounts[r])
	}
	return sum
}

// Root is the domain of all nodes.
func (t *Topology) Root() DomainID { return t.first[len(t.tiers)] }

// Domains of a tier, from NodeTier to len(Tiers()) for the root: ids from lo up to but not including hi.
func (t *Topology) Domains(tier int) (lo, hi DomainID) { return t.first[tier], t.first[tier+1] }

// Parent of a domain; NoDomain for the root.
func (t *Topology) Parent(d DomainID) DomainID { return t.parent[d] }

// Children of a domain above the nodes: ids from lo up to but not including hi.
func (t *Topology) Children(d DomainID) (lo, hi DomainID) { return t.childLo[d], t.childHi[d] }

// NodesOf a domain: ids from lo up to but not including hi.
func (t *Topology) NodesOf(d DomainID) (lo, hi NodeID) { return t.nodeLo[d], t.nodeHi[d] }

// TierOf is the tier of a domain; len(Tiers()) for the root.
func (t *Topology) TierOf(d DomainID) int {
	tier := NodeTier
	for d >= t.first[tier+1] {
		tier++
	}
	return tier
}

// Ancestor is the domain of a tier that a node is in.
func (t *Topology) Ancestor(node NodeID, tier int) DomainID {
	d := DomainID(node)
	for ; tier > NodeTier; tier-- {
		d = t.parent[d]
	}
	return d
}

// Holds says whether a node is in a domain.
func (t *Topology) Holds(d DomainID, node NodeID) bool {
	return t.nodeLo[d] <= node && node < t.nodeHi[d]
}

// Bandwidth of a domain's uplink, bytes per second in one direction.
func (t *Topology) Bandwidth(d DomainID) float64 { return t.bandwidth[d] }

// DomainName is the path of a domain from the highest tier down, joined by "/"; "cluster" for the root.
func (t *Topology) DomainName(d DomainID) string {
	if t.parent[d] == NoDomain {
		return t.name[d]
	}
	var parts []string
	for ; t.parent[d] != NoDomain; d = t.parent[d] {
		parts = append(parts, t.name[d])
	}
	slices.Reverse(parts)
	return strings.Join(parts, pathSeparator)
}
