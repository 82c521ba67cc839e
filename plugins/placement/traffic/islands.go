// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Island returns the ends of the runs that pods of a node make on its islands, if they take GPUs in the order of ranks and begin with a
// parallel group: the sum, and the most that one island has.
func (c *Ring) Island(node tree.NodeID, row []int32) (sum, most int64) {
	islands := c.t.FreeIslands(node)
	if len(islands) == 0 || c.GPUs == 0 {
		load := c.Load(tree.DomainID(node), row)
		return load, load
	}
	var free [tree.MaxIslands]int16
	var ends [tree.MaxIslands]int64
	copy(free[:], islands)
	for i := range c.Gaps {
		c.picked = c.picked[:0]
		for range row[i] {
			c.picked = tree.AssignGPUs(free[:len(islands)], c.GPUs, c.picked)
		}
		c.endsIn(&ends, c.Gaps[i].Left < 0 && int64(row[i]) == c.Gaps[i].Length)
	}
	for _, n := range ends[:len(islands)] {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// endsIn counts the ends of the ranks picked last: of the ring, and of each parallel group among them.
func (c *Ring) endsIn(ends *[tree.MaxIslands]int64, whole bool) {
	edge := func(a, b uint8, weight int64) {
		if a != b {
			ends[a] += weight
			ends[b] += weight
		}
	}
	last := len(c.picked) - 1
	if last < 0 {
		return
	}
	first := 0 // of the group
	for r, island := range c.picked {
		if r > 0 {
			edge(c.picked[r-1], island, 1)
		}
		if c.size < 2 {
			continue
		}
		if r%c.size == 0 {
			first = r
		} else {
			edge(c.picked[r-1], island, GroupWeight)
		}
		if r+1 == first+c.size || whole && r == last {
			edge(island, c.picked[first], GroupWeight)
		}
	}
	if whole {
		edge(c.picked[last], c.picked[0], 1)
		return
	}
	ends[c.picked[0]]++
	ends[c.picked[last]]++
	if c.size > 1 && (last+1)%c.size != 0 { // the last group goes on elsewhere
		ends[c.picked[first]] += GroupWeight
		ends[c.picked[last]] += GroupWeight
	}
}
