// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"math"
	"slices"
)

// islands are the GPU islands of all nodes. A node without islands has one with all of its GPUs; nothing is stored for it.
type islands struct {
	lo   []int32 // of each node, and one more: where its islands begin
	size []int16
	free []int16
}

func (s *islands) build(nodes []placed, accelerators []int) {
	s.lo = make([]int32, len(nodes)+1)
	for i, node := range nodes {
		count := len(node.spec.Islands)
		if count == 1 || len(accelerators) == 0 {
			count = 0 // one island is the node itself
		}
		for range count {
			s.size = append(s.size, 0)
			s.free = append(s.free, 0)
		}
		s.lo[i+1] = s.lo[i] + int32(count)
	}
}

func (s *islands) set(node NodeID, specs []Island) {
	free, lo := s.of(node), s.lo[node]
	for i := range free {
		s.size[int(lo)+i] = int16(specs[i].Size)
		free[i] = int16(specs[i].Free)
	}
}

// of are the free GPUs of each island of a node; empty where the node is one island.
func (s *islands) of(node NodeID) []int16 { return s.free[s.lo[node]:s.lo[node+1]] }

func (s *islands) sizes(node NodeID) []int16 { return s.size[s.lo[node]:s.lo[node+1]] }

// AssignGPUs takes gpus from islands with the given free GPUs, as the kubelet's device plugins prefer to: from the
// fullest island that holds them all; else from the emptiest islands, as few as will do. It changes free, and appends
// the island of each GPU to picked. Ties end in the lower number. GPUs that are not there are not picked.
func AssignGPUs(free []int16, gpus int, picked []uint8) []uint8 {
	for gpus > 0 {
		best := -1
		for i, f := range free {
			switch {
			case f == 0:
			case best < 0:
				best = i
			case (int(f) >= gpus) != (int(free[best]) >= gpus):
				if int(f) >= gpus {
					best = i
				}
			case int(f) >= gpus && f < free[best], int(f) < gpus && f > free[best]:
				best = i
			}
		}
		if best < 0 {
			return picked
		}
		for free[best] > 0 && gpus > 0 {
			free[best]--
			gpus--
			picked = append(picked, uint8(best))
		}
	}
	return picked
}

// IslandsNeeded returns the least number of islands, of an empty node, that gpus need.
func IslandsNeeded(sizes []int16, gpus int) int {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	needed := 0
	for i := len(sorted) - 1; i >= 0 && gpus > 0; i-- {
		gpus -= int(sorted[i])
		needed++
	}
	return needed
}

// FreeIslands are the free GPUs of each island of a node; empty where the node is one island. The caller must not change them.
func (t *Topology) FreeIslands(node NodeID) []int16 { return t.gpus.of(node) }

// IslandSizes are the GPUs of each island of a node, free or not; empty where the node is one island.
func (t *Topology) IslandSizes(node NodeID) []int16 { return t.gpus.sizes(node) }

// AllIslands are the free GPUs of the islands of all nodes, node by node.
func (t *Topology) AllIslands() []int16 { return t.gpus.free }

// IslandRange is where the islands of a node are in AllIslands: from lo up to but not including hi.
func (t *Topology) IslandRange(node NodeID) (lo, hi int) {
	return int(t.gpus.lo[node]), int(t.gpus.lo[node+1])
}

// Islands of a node with their sizes and free GPUs; none where the node is one island. The caller may change them.
func (t *Topology) Islands(node NodeID) []Island {
	sizes, free := t.gpus.sizes(node), t.gpus.of(node)
	if len(sizes) == 0 {
		return nil
	}
	islands := make([]Island, len(sizes))
	for i := range sizes {
		islands[i] = Island{Size: int(sizes[i]), Free: int(free[i])}
	}
	return islands
}

// PickIslands takes a pod's GPUs from a node's islands as Take does and as the cost of a plan has it: it lowers their
// free GPUs and gives the island of each GPU, a position in islands. GPUs that are not free are in no island: the result
// is then shorter than gpus.
func PickIslands(islands []Island, gpus int) []int {
	free := make([]int16, len(islands))
	for i := range islands {
		free[i] = int16(max(0, min(islands[i].Free, math.MaxInt16)))
	}
	picked := AssignGPUs(free, gpus, nil)
	of := make([]int, len(picked))
	for i := range picked {
		of[i] = int(picked[i])
		islands[of[i]].Free--
	}
	return of
}
