// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// What a cell, which is one GPU, holds if it is none of the job's pods.
const (
	free   = -1
	others = -2
)

// maxCells is how many GPUs of one node are drawn one by one. Nodes with more (or with shares of GPUs that are counted as
// GPUs) show their pods as chips.
const maxCells = 128

// group is an island of a node: for each GPU the position of its pod in the node's pods, or free, or others.
type group []int

// groups are a node's GPUs by island: first those of pods that have been there, then others', then new pods', then free
// ones. Nothing if there are too many to draw. Which of the taken GPUs of an island a running pod has is not known, nor is its island: it gets one that has as
// many taken GPUs. GPUs that are in no island, as the node has too few, make a group of their own.
func (s *scene) groups(node placement.NodeID) []group {
	islands := s.t.Islands(node)
	known := len(islands) > 0
	if !known {
		islands = []placement.Island{s.whole(node)}
	}
	total := 0
	for _, island := range islands {
		total += island.Size
	}
	for _, pod := range s.pods[node] {
		if !pod.fixed {
			total += pod.gpus
		}
	}
	if total > maxCells {
		s.shows.packed = true
		return nil
	}
	taken := make([]placement.Island, len(islands))
	for i, island := range islands {
		taken[i].Free = island.Size - island.Free
	}
	running, fresh := make([]group, len(islands)), make([]group, len(islands))
	var homeless group
	for p, pod := range s.pods[node] {
		list, from := fresh, islands
		if pod.fixed {
			list, from = running, taken
		}
		picked := placement.PickIslands(from, pod.gpus)
		for _, island := range picked {
			list[island] = append(list[island], p)
		}
		for range pod.gpus - len(picked) {
			homeless = append(homeless, p)
		}
	}
	var all []group
	for i := range islands {
		g := slices.Concat(running[i], repeat(others, taken[i].Free), fresh[i], repeat(free, islands[i].Free))
		if len(g) > 0 {
			all = append(all, g)
		}
		s.shows.free = s.shows.free || islands[i].Free > 0
		s.shows.others = s.shows.others || taken[i].Free > 0
	}
	s.shows.islands = s.shows.islands || known && len(all) > 1
	if len(homeless) > 0 {
		all = append(all, homeless)
	}
	return all
}

// whole node as one island.
func (s *scene) whole(node placement.NodeID) placement.Island {
	unused := int(s.t.FreeGPUs(placement.DomainID(node)))
	size := unused
	for _, pod := range s.pods[node] {
		if pod.fixed {
			size += pod.gpus
		}
	}
	if s.o.GPUs != nil {
		size = max(size, s.o.GPUs(node))
	}
	return placement.Island{Size: size, Free: unused}
}

func repeat(cell, times int) group {
	g := make(group, max(0, times))
	for i := range g {
		g[i] = cell
	}
	return g
}
