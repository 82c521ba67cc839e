// SPDX-License-Identifier: Apache-2.0

package placement

// collective counts what ringWalk does, from how many members of each gap a domain holds.
//
// A gap is a longest run of consecutive ranks to place; the members at its two ends, placed before, are fixed (none, if
// the whole ring is to be placed). A domain that holds k of the L members of a gap, set in the order of the tree from one
// end to the other, cuts the ring in as few places as can be:
//
//	ends held   k = 0   0 < k < L   k = L
//	neither       0         2         2
//	one           1         1         1
//	both          2         2         0
//
// where a cut is one end of a run of ranks (ring.go gives its bytes), and a whole ring in one domain is not cut.
type collective struct {
	t     *Topology
	gaps  []gap
	bytes float64
	// base are the cuts between neighbours that were both placed before, by domain.
	base map[DomainID]int64
	// group is the number of consecutive members that make one parallel group, 1 for none.
	group  int64
	weight int64
	size   int // of a parallel group in ranks
	picked []uint8
	// length of the ring, in members.
	length int64
}

type gap struct {
	length int64
	start  int64  // position of its first member on the ring
	left   NodeID // of the member before it; below 0 if the whole ring is one gap
	right  NodeID
}

func (c *collective) unit() float64 { return c.bytes }

func (c *collective) classes() int { return len(c.gaps) }

func (c *collective) load(v DomainID, row []int32) int64 {
	var sum int64
	if len(c.base) > 0 {
		sum = c.base[v]
	}
	for i := range c.gaps {
		if k := int64(row[i]); k > 0 || c.gaps[i].left >= 0 {
			sum += c.cuts(v, &c.gaps[i], k)
		}
	}
	return sum
}

// cuts of one gap at the border of a domain that holds k of its members.
func (c *collective) cuts(v DomainID, g *gap, k int64) int64 {
	left, right := g.left >= 0 && c.t.Holds(v, g.left), g.right >= 0 && c.t.Holds(v, g.right)
	switch {
	case left && right:
		if k == g.length {
			return 0
		}
		return 2 + c.broken(g.start+k)
	case left:
		return 1 + c.broken(g.start+k)
	case right:
		return 1 + c.broken(g.start+g.length-k)
	case k == 0 || k == g.length && g.left < 0:
		return 0
	case k == g.length:
		return 2 + c.broken(g.start) + c.broken(g.start+k)
	}
	return 2 + c.broken(k)
}

// broken is what a cut between two members costs more if it goes through a parallel group: a ring of its own that is cut
// has two ends. Where no end of a run is given, as many whole groups as can be are kept together.
func (c *collective) broken(position int64) int64 {
	if c.group > 1 && position%c.length%c.group != 0 {
		return 2 * c.weight
	}
	return 0
}

// island ends of the runs that pods of a node make on its islands, if they take GPUs in the order of ranks and begin with a
// parallel group: the sum, and the most that one island has.
func (c *collective) island(node NodeID, row []int32, gpus int) (sum, most int64) {
	islands := c.t.gpus.of(node)
	if len(islands) == 0 || gpus == 0 {
		load := c.load(DomainID(node), row)
		return load, load
	}
	var free [maxIslands]int16
	var ends [maxIslands]int64
	copy(free[:], islands)
	for i := range c.gaps {
		c.picked = c.picked[:0]
		for range row[i] {
			c.picked = pickIslands(free[:len(islands)], gpus, c.picked)
		}
		c.endsIn(&ends, c.gaps[i].left < 0 && int64(row[i]) == c.gaps[i].length)
	}
	for _, n := range ends[:len(islands)] {
		sum += n
		most = max(most, n)
	}
	return sum, most
}

// endsIn counts the ends of the ranks picked last: of the ring, and of each parallel group among them.
func (c *collective) endsIn(ends *[maxIslands]int64, whole bool) {
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
			edge(c.picked[r-1], island, c.weight)
		}
		if r+1 == first+c.size || whole && r == last {
			edge(island, c.picked[first], c.weight)
		}
	}
	if whole {
		edge(c.picked[last], c.picked[0], 1)
		return
	}
	ends[c.picked[0]]++
	ends[c.picked[last]]++
	if c.size > 1 && (last+1)%c.size != 0 { // the last group goes on elsewhere
		ends[c.picked[first]] += c.weight
		ends[c.picked[last]] += c.weight
	}
}
