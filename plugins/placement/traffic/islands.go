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
		c.endsIn(&ends)
	}
	for _, n := range ends[:len(islands)] {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// endsIn counts the ends of the ranks picked last.
func (c *Ring) endsIn(ends *[tree.MaxIslands]int64) {
	for _, a := range c.Axes {
		for rank, island := range c.picked {
			next := a.Next(rank, c.Ranks)
			if next >= len(c.picked) || c.picked[next] != island {
				ends[island] += a.Weight
			}
			if before := a.previous(rank, c.Ranks); before >= len(c.picked) || c.picked[before] != island {
				ends[island] += a.Weight
			}
		}
	}
}
