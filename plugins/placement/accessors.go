// SPDX-License-Identifier: Apache-2.0

package placement

import "math"

// GPUs of a vector of amounts: the sum of its accelerators.
func (t *Topology) GPUs(amounts []int64) int64 { return t.gpusOf(amounts) }

// LocalName is the name of a domain within its parent: the last part of its DomainName.
func (t *Topology) LocalName(d DomainID) string { return t.name[d] }

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
	picked := pickIslands(free, gpus, nil)
	of := make([]int, len(picked))
	for i := range picked {
		of[i] = int(picked[i])
		islands[of[i]].Free--
	}
	return of
}
