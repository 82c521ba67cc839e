// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

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

// pickIslands takes gpus from islands with the given free GPUs, as the kubelet's device plugins prefer to: from the
// fullest island that holds them all; else from the emptiest islands, as few as will do. It changes free, and appends
// the island of each GPU to picked. Ties end in the lower number. GPUs that are not there are not picked.
func pickIslands(free []int16, gpus int, picked []uint8) []uint8 {
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

// islandsNeeded is the least number of islands, of an empty node, that gpus need.
func islandsNeeded(sizes []int16, gpus int) int {
	sorted := slices.Clone(sizes)
	slices.Sort(sorted)
	needed := 0
	for i := len(sorted) - 1; i >= 0 && gpus > 0; i-- {
		gpus -= int(sorted[i])
		needed++
	}
	return needed
}
