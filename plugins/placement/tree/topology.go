// SPDX-License-Identifier: Apache-2.0

// Package tree holds a cluster's network as a tree of domains, and what is free in it.
//
// A Topology has islands inside nodes, nodes, and tiers above them up to the root. It keeps the free amounts of all domains and,
// for the requests planned lately, how many pods fit where (Shape); both follow each change in O(depth). Changes since Begin can
// be rolled back.
package tree

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
// (Take, SetFree). It is not safe for use by several goroutines.
type Topology struct {
	resources    []string
	accelerators []int
	tiers        []Tier
	weights      []int64 // of each tier, in units of 1/WeightUnit

	name      []string // last part of each domain's path
	parent    []DomainID
	first     []DomainID // first domain of each tier from NodeTier, then the root, then the number of domains
	childLo   []DomainID // of each domain above nodes: its children, which follow each other
	childHi   []DomainID
	nodeLo    []NodeID // of each domain: its nodes, which follow each other
	nodeHi    []NodeID
	bandwidth []float64
	byName    map[string]NodeID

	free  []int64 // domain-major: nodes, and sums of the domains above (parts below 0 count as 0)
	gpus  islands
	index capacityIndex

	numbers []int32 // of an assignment that is not in use: all 0

	journal []change
	open    int // how many changes may still be undone together: nested Begins
}

// New builds the tree. It keeps nothing of the spec: the caller may change it afterwards.
func New(spec Spec) (*Topology, error) {
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
		t.weights = append(t.weights, tier.integerWeight())
	}
	nodes := inTreeOrder(spec.Nodes)
	t.grow(nodes)
	t.gpus.build(nodes, t.accelerators)
	t.index.t = t
	for id, node := range nodes {
		t.byName[node.spec.Name] = NodeID(id)
		t.setFree(NodeID(id), node.spec.Free)
		t.gpus.set(NodeID(id), node.spec.Islands)
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
	t.first = append(t.first, 0, 0) // islands are not domains
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
				bandwidth := 1.0 // the root has no uplink
				if tier < top {
					bandwidth = t.tiers[tier].EffectiveBandwidth()
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
func (t *Topology) FreeGPUs(d DomainID) int64 { return t.GPUs(t.Free(d)) }

// GPUs of a vector of amounts: the sum of its accelerators.
func (t *Topology) GPUs(amounts []int64) int64 {
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

// Holds reports whether a node is in a domain.
func (t *Topology) Holds(d DomainID, node NodeID) bool {
	return t.nodeLo[d] <= node && node < t.nodeHi[d]
}

// DomainCount is the number of domains, nodes and the root included.
func (t *Topology) DomainCount() int { return len(t.parent) }

// Weights are the weights of the tiers in units of 1/WeightUnit. The caller must not change them.
func (t *Topology) Weights() []int64 { return t.weights }

// Accelerators are the positions in Resources of those that count GPUs. The caller must not change them.
func (t *Topology) Accelerators() []int { return t.accelerators }

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

// CommonTier returns the tier of the lowest domain that holds both nodes; NodeTier if they are one.
func (t *Topology) CommonTier(a, b NodeID) int {
	tier := NodeTier
	for u, v := DomainID(a), DomainID(b); u != v; u, v, tier = t.parent[u], t.parent[v], tier+1 {
	}
	return tier
}

// TierName returns the name of a tier; "cluster" for the root.
func (t *Topology) TierName(tier int) string {
	if tier == len(t.tiers) {
		return "cluster"
	}
	return t.tiers[tier].Name
}

// ShortName returns the own name of a domain where no other of its tier has it, else its path.
func (t *Topology) ShortName(v DomainID) string {
	if int(v) < t.Nodes() {
		return t.NodeName(NodeID(v))
	}
	lo, hi := t.Domains(t.TierOf(v))
	for other := lo; other < hi; other++ {
		if other != v && t.LocalName(other) == t.LocalName(v) {
			return t.DomainName(v)
		}
	}
	return t.LocalName(v)
}

// LocalName is the name of a domain within its parent: the last part of its DomainName.
func (t *Topology) LocalName(d DomainID) string { return t.name[d] }

// Claim is what one pod takes of a node.
type Claim struct {
	Node    NodeID
	Amounts []int64
	// Islands that the pod's GPUs are in, one for each GPU; none where the node is one island.
	Islands []uint8
}

// change is what a node had before it changed.
type change struct {
	node    NodeID
	free    []int64
	islands []int16
	sizes   []int16
}

// SetFree sets what is free on a node, after something that is no Claim changed it. Islands as in NodeSpec; their number
// stays as it was built. O(depth), and nothing changes on an error.
func (t *Topology) SetFree(node NodeID, free []int64, specs []Island) error {
	err := CheckAmounts(free, len(t.resources))
	switch has := len(t.gpus.of(node)); {
	case err != nil || has == 0:
	case len(specs) != has:
		err = fmt.Errorf("%d islands, want %d as before", len(specs), has)
	default:
		err = checkIslands(specs, t.GPUs(free))
	}
	if err != nil {
		return fmt.Errorf("set what is free on node %s: %w", t.NodeName(node), err)
	}
	t.record(node)
	t.setFree(node, free)
	t.gpus.set(node, specs)
	return nil
}

// Take claims amounts on a node for one pod: GPUs from the islands that the kubelet would prefer. O(depth).
func (t *Topology) Take(node NodeID, amounts []int64) (Claim, error) {
	free := t.Free(DomainID(node))
	if len(amounts) != len(free) {
		return Claim{}, fmt.Errorf("claim node %s: %d amounts, want one for each of the %d resources", t.NodeName(node), len(amounts), len(free))
	}
	for r, amount := range amounts {
		if amount > 0 && amount > free[r] || amount < 0 {
			return Claim{}, fmt.Errorf("claim node %s: %d %s requested, %d free", t.NodeName(node), amount, t.resources[r], free[r])
		}
	}
	t.record(node)
	claim := Claim{Node: node, Amounts: slices.Clone(amounts)}
	if islands := t.gpus.of(node); len(islands) > 0 {
		claim.Islands = AssignGPUs(islands, int(t.GPUs(amounts)), nil)
	}
	left := slices.Clone(free)
	for r, amount := range amounts {
		left[r] -= amount
	}
	t.setFree(node, left)
	return claim, nil
}

// setFree changes a node, the sums above it and the index of fits.
func (t *Topology) setFree(node NodeID, free []int64) {
	own := t.Free(DomainID(node))
	for d := t.parent[node]; d != NoDomain; d = t.parent[d] {
		sums := t.Free(d)
		for r := range sums {
			sums[r] += max(0, free[r]) - max(0, own[r])
		}
	}
	copy(own, free)
	t.index.update(node)
}

// Begin opens a set of changes that Rollback undoes. Sets nest.
func (t *Topology) Begin() (mark int) {
	t.open++
	return len(t.journal)
}

// Rollback undoes all changes since Begin gave the mark: as many O(depth) steps as there were changes.
func (t *Topology) Rollback(mark int) {
	for i := len(t.journal) - 1; i >= mark; i-- {
		was := t.journal[i]
		copy(t.gpus.of(was.node), was.islands)
		copy(t.gpus.sizes(was.node), was.sizes)
		t.setFree(was.node, was.free)
	}
	t.journal = t.journal[:mark]
	if t.open--; t.open <= 0 {
		t.open, t.journal = 0, t.journal[:0]
	}
}

func (t *Topology) record(node NodeID) {
	if t.open > 0 {
		t.journal = append(t.journal, change{
			node:    node,
			free:    slices.Clone(t.Free(DomainID(node))),
			islands: slices.Clone(t.gpus.of(node)),
			sizes:   slices.Clone(t.gpus.sizes(node)),
		})
	}
}

// AddFree adds amounts to what is free on a node, as if it had more of them: GPUs go to islands that are not whole, the rest to
// the last island, which grows if it must.
func (t *Topology) AddFree(node NodeID, amounts []int64) {
	t.record(node)
	sizes, islands := t.gpus.sizes(node), t.gpus.of(node)
	more := t.GPUs(amounts)
	for i := range islands {
		add := min(more, int64(sizes[i]-islands[i]))
		if i == len(islands)-1 {
			add = more
		}
		islands[i] += int16(add)
		sizes[i] = max(sizes[i], islands[i])
		more -= add
	}
	free := slices.Clone(t.Free(DomainID(node)))
	for r, amount := range amounts {
		if amount > 0 {
			free[r] = max(0, free[r]) + amount
		}
	}
	t.setFree(node, free)
}
