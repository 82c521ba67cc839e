// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// NodeID is a node of one Topology: 0 and up, in the order of the tree (names of domains from the top, then its own).
type NodeID int32

// DomainID is a domain of one Topology. Nodes are domains of the node tier and keep their number; racks and what is
// above follow, tier by tier, the root last.
type DomainID int32

// NoDomain is the parent of the root.
const NoDomain DomainID = -1

const pathSeparator = "/"

// Topology is a tree of domains with the free amounts of its nodes. Built once, it follows pods as they come and go
// (Take, Give, SetFree). It is not safe for use by several goroutines.
type Topology struct {
	resources    []string
	accelerators []int
	tiers        []Tier
	weights      []int64 // price of each tier, in units of 1/priceUnit

	name      []string // last part of each domain's path
	parent    []DomainID
	first     []DomainID // first domain of each tier from NodeTier, then the root, then the number of domains
	childLo   []DomainID // of each domain above nodes: its children, which follow each other
	childHi   []DomainID
	nodeLo    []NodeID // of each domain: its nodes, which follow each other
	nodeHi    []NodeID
	bandwidth []float64
	byName    map[string]NodeID

	free []int64 // domain-major: nodes, and sums of the domains above (parts below 0 count as 0)
	gpus islands
	fits fitIndex

	numbers []int32 // of a board that is not in use: all 0

	journal []change
	open    int // how many changes may still be undone together: nested Begins
}

// NewTopology builds the tree. It takes nothing of the spec: the caller may change it afterwards.
func NewTopology(spec TopologySpec) (*Topology, error) {
	if err := spec.check(); err != nil {
		return nil, fmt.Errorf("read the topology: %w", err)
	}
	t := &Topology{
		resources: slices.Clone(spec.Resources),
		tiers:     slices.Clone(spec.Tiers),
		byName:    make(map[string]NodeID, len(spec.Nodes)),
	}
	for i, name := range spec.Resources {
		if slices.Contains(spec.Accelerators, name) {
			t.accelerators = append(t.accelerators, i)
		}
	}
	for _, tier := range spec.Tiers {
		t.weights = append(t.weights, tier.integerPrice())
	}
	nodes := inTreeOrder(spec.Nodes)
	t.grow(nodes)
	t.gpus.build(nodes, t.accelerators)
	t.fits.t = t
	for id, node := range nodes {
		t.byName[node.spec.Name] = NodeID(id)
		t.setFree(NodeID(id), node.spec.Free)
		t.gpus.set(NodeID(id), node.spec.Islands)
	}
	if err := t.widen(spec.Uplinks); err != nil {
		return nil, fmt.Errorf("read the topology: %w", err)
	}
	return t, nil
}

// placed is a node with its path: names from the highest tier down to the node itself. A tier that is not known takes
// the name of what is below it.
type placed struct {
	spec *NodeSpec
	path []string
}

func inTreeOrder(specs []NodeSpec) []placed {
	nodes := make([]placed, len(specs))
	for i := range specs {
		spec := &specs[i]
		depth := len(spec.Domains) + 1
		path := make([]string, depth)
		path[depth-1] = spec.Name
		for tier, name := range spec.Domains {
			if name == "" {
				name = "(" + strings.Trim(path[depth-1-tier], "()") + ")"
			}
			path[depth-2-tier] = name
		}
		nodes[i] = placed{spec: spec, path: path}
	}
	slices.SortFunc(nodes, func(a, b placed) int { return slices.CompareFunc(a.path, b.path, cmp.Compare[string]) })
	return nodes
}

// grow lays the domains out, tier by tier: within a tier they follow the order of the tree.
func (t *Topology) grow(nodes []placed) {
	top := len(t.tiers) // the root's tier
	count := DomainID(0)
	t.first = append(t.first, 0, 0) // islands are no domains of their own
	var below []DomainID            // domain of each node at the tier below
	for tier := NodeTier; tier <= top; tier++ {
		t.first[tier] = count
		here := make([]DomainID, len(nodes))
		for i := range nodes {
			// Two nodes are in one domain of a tier if their paths agree down to it.
			depth := top - tier
			if i == 0 || !slices.Equal(nodes[i].path[:depth], nodes[i-1].path[:depth]) {
				name := "cluster"
				if depth > 0 {
					name = nodes[i].path[depth-1]
				}
				t.name = append(t.name, name)
				t.parent = append(t.parent, NoDomain)
				t.nodeLo = append(t.nodeLo, NodeID(i))
				t.nodeHi = append(t.nodeHi, NodeID(i))
				t.childLo = append(t.childLo, NoDomain)
				t.childHi = append(t.childHi, NoDomain)
				bandwidth := 1.0
				if tier < top {
					bandwidth = t.tiers[tier].bandwidth()
				}
				t.bandwidth = append(t.bandwidth, bandwidth)
				if below != nil {
					t.childLo[count] = below[i]
				}
				count++
			}
			here[i] = count - 1
			t.nodeHi[count-1] = NodeID(i + 1)
			if below != nil {
				t.childHi[count-1] = below[i] + 1
				t.parent[below[i]] = count - 1
			}
		}
		below = here
		t.first = append(t.first, count)
	}
	t.free = make([]int64, int(count)*len(t.resources))
}

func (t *Topology) widen(uplinks []Uplink) error {
	for _, uplink := range uplinks {
		if uplink.Tier < NodeTier || uplink.Tier >= len(t.tiers) || !(uplink.Bandwidth > 0) {
			return fmt.Errorf("uplink of %q: tier %d, bandwidth %v: want a tier from %d to %d and more than 0 bytes per second",
				uplink.Path, uplink.Tier, uplink.Bandwidth, NodeTier, len(t.tiers)-1)
		}
		found := false
		for d := t.first[uplink.Tier]; d < t.first[uplink.Tier+1] && !found; d++ {
			if found = t.DomainName(d) == uplink.Path; found {
				t.bandwidth[d] = uplink.Bandwidth
			}
		}
		if !found {
			return fmt.Errorf("uplink of %q: tier %q has no such domain", uplink.Path, t.tiers[uplink.Tier].Name)
		}
	}
	return nil
}
