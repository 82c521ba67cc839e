// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"fmt"
	"slices"
)

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
	if err := CheckAmounts(free, len(t.resources)); err != nil {
		return fmt.Errorf("set what is free on node %s: %w", t.NodeName(node), err)
	}
	if has := len(t.gpus.of(node)); has > 0 {
		if len(specs) != has {
			return fmt.Errorf("set what is free on node %s: %d islands, want %d as before", t.NodeName(node), len(specs), has)
		}
		if err := checkIslands(specs, t.GPUs(free)); err != nil {
			return fmt.Errorf("set what is free on node %s: %w", t.NodeName(node), err)
		}
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
			return Claim{}, fmt.Errorf("claim node %s: %d %s asked for, %d free", t.NodeName(node), amount, t.resources[r], free[r])
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

// Begin opens a set of changes that Rollback takes back. Sets nest.
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
