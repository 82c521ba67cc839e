// SPDX-License-Identifier: Apache-2.0

package placement

// Weights of what a plan does to later jobs, largest first: pods whose GPUs are in more islands than they need, islands
// that were whole, free GPUs left on the nodes that are used (tightest node), free GPUs near them (tightest domain).
const (
	straddleHarm = 1 << 44
	brokenHarm   = 1 << 36
	leftoverHarm = 1 << 20
	nearbyMost   = leftoverHarm - 1
)

// harm of putting so many pods of each kind on a node. 0 for none.
func (p *problem) harm(node NodeID, count []int32) int64 {
	pods, gpus := int32(0), int64(0)
	for k, n := range count {
		pods += n
		gpus += int64(n) * int64(p.kinds[k].gpus)
	}
	if pods == 0 {
		return 0
	}
	t := p.t
	left := t.FreeGPUs(DomainID(node)) - gpus
	nearby := t.FreeGPUs(t.parent[node])
	if len(t.accelerators) == 0 {
		left, nearby = p.leftover(node, count), p.kinds[0].shape.sumOf(t.parent[node])
	}
	harm := max(0, left)*leftoverHarm + min(nearby, nearbyMost)
	if islands := t.gpus.of(node); len(islands) > 0 && gpus > 0 {
		harm += p.islandHarm(node, islands, count)
	}
	return harm
}

// leftover is how many pods of the first kind still fit.
func (p *problem) leftover(node NodeID, count []int32) int64 {
	most := int64(maxFit)
	for r, free := range p.t.Free(DomainID(node)) {
		for k, n := range count {
			free -= int64(n) * p.kinds[k].request[r]
		}
		if amount := p.kinds[0].request[r]; amount > 0 {
			most = min(most, free/amount)
		}
	}
	return most
}

func (p *problem) islandHarm(node NodeID, islands []int16, count []int32) (harm int64) {
	var buffer [maxIslands]int16
	var picked [256]uint8
	free := buffer[:len(islands)]
	copy(free, islands)
	sizes := p.t.gpus.sizes(node)
	for k, n := range count {
		gpus := p.kinds[k].gpus
		if gpus == 0 {
			continue
		}
		needed := islandsNeeded(sizes, gpus)
		for range n {
			of := pickIslands(free, gpus, picked[:0])
			parts := 0
			for i := range of {
				if i == 0 || of[i] != of[i-1] {
					parts++
				}
			}
			harm += straddleHarm * int64(max(0, parts-needed))
		}
	}
	for i := range free {
		if islands[i] == sizes[i] && free[i] > 0 && free[i] < sizes[i] {
			harm += brokenHarm
		}
	}
	return harm
}
