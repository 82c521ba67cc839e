// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Ring counts what rankWalk does, from how many members of each gap a domain holds.
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
// where a cut is one end of a run of ranks (walk.go gives its bytes), and a whole ring in one domain is not cut.
type Ring struct {
	// Gaps of the ring; each is a class of members to place.
	Gaps []Gap
	// Members of the ring, by rank; those to place have no node.
	Members []gang.PlacedMember
	// Length of the ring, in members.
	Length int64
	// Group is the number of consecutive members that make one parallel group, 1 for none.
	Group int64
	// GPUs of one pod, of the role with most members.
	GPUs int
	// Axes of the ranks, and how many there are.
	Axes   []Axis
	Ranks  int
	Hybrid bool
	// Near has the edges of each pod, by position, unless the ring is Plain or has more than maxConnected pods.
	Near [][]Edge

	t      *tree.Topology
	bytes  float64
	base   map[tree.DomainID]int64 // cuts between neighbors that were both placed before
	ends   []int64                 // of hybrid parallelism: of a domain that holds 0, 1, 2, ... pods
	picked []uint8
}

// Gap is a longest run of consecutive ranks to place.
type Gap struct {
	// Length is the number of its members; Start is the position of the first one on the ring.
	Length, Start int64
	// Left and Right are the nodes of the members before and after it; below 0 if the whole ring is one gap.
	Left, Right tree.NodeID
	// Members to place, by rank.
	Members []gang.PlacedMember
}

// Unit returns the bytes of one end of a run.
func (c *Ring) Unit() float64 { return c.bytes }

// Plain reports whether no parallel group has ranks in several pods: what a domain carries follows from how many pods it holds.
func (c *Ring) Plain() bool { return c.Group == 1 && !c.Hybrid }

// Classes returns the number of gaps.
func (c *Ring) Classes() int { return len(c.Gaps) }

// Load returns the cuts at the border of a domain that holds row members of each gap.
func (c *Ring) Load(v tree.DomainID, row []int32) int64 {
	var sum int64
	if len(c.base) > 0 {
		sum = c.base[v]
	}
	for i := range c.Gaps {
		if k := int64(row[i]); k > 0 || c.Gaps[i].Left >= 0 {
			sum += c.cuts(v, &c.Gaps[i], k)
		}
	}
	return sum
}

// cuts of one gap at the border of a domain that holds k of its members.
func (c *Ring) cuts(v tree.DomainID, g *Gap, k int64) int64 {
	left, right := g.Left >= 0 && c.t.Holds(v, g.Left), g.Right >= 0 && c.t.Holds(v, g.Right)
	switch {
	case len(c.ends) > 0 && left && right:
		return c.ends[g.Length-k]
	case len(c.ends) > 0 && (left || right):
		return (c.ends[k] + c.ends[g.Length-k] + 1) / 2
	case len(c.ends) > 0:
		return c.ends[k]
	case left && right:
		if k == g.Length {
			return 0
		}
		return 2 + c.groupCuts(g.Start+k)
	case left:
		return 1 + c.groupCuts(g.Start+k)
	case right:
		return 1 + c.groupCuts(g.Start+g.Length-k)
	case k == 0 || k == g.Length && g.Left < 0:
		return 0
	case k == g.Length:
		return 2 + c.groupCuts(g.Start) + c.groupCuts(g.Start+k)
	}
	return 2 + c.groupCuts(k)
}

// NewRing returns the ring of a Collective, of the members placed before and of the given number of pending members of each role.
func NewRing(t *tree.Topology, d *gang.Demand, take []int) *Ring {
	c := &Ring{t: t, Hybrid: d.Parallelism != (gang.Parallelism{}), base: map[tree.DomainID]int64{}}
	most := 0
	for r := range d.Roles {
		role := &d.Roles[r]
		if role.CommRole != gang.Worker {
			continue
		}
		pending := role.Pending[:take[r]]
		members, gpus := len(role.Placed)+take[r], int(t.GPUs(role.Request))
		c.Ranks += members * max(1, gpus)
		if members > most {
			most, c.GPUs = members, gpus
		}
		i := 0
		for _, member := range role.Placed {
			for ; i < len(pending) && pending[i] < member.Index; i++ {
				c.Members = append(c.Members, gang.PlacedMember{Role: r, Index: pending[i], Node: -1})
			}
			c.Members = append(c.Members, gang.PlacedMember{Role: r, Index: member.Index, Node: member.Node, Fixed: true})
		}
		for ; i < len(pending); i++ {
			c.Members = append(c.Members, gang.PlacedMember{Role: r, Index: pending[i], Node: -1})
		}
	}
	c.bytes = endBytes(d, c.Ranks)
	c.Length = int64(len(c.Members))
	c.Group = PodsPerGroup(d, max(1, c.GPUs))
	c.cutIntoGaps(c.Members)
	if c.Axes = Axes(d, c.Ranks); !c.Plain() && len(c.Members) <= maxConnected {
		c.connect(func(role int) int { return int(t.GPUs(d.Roles[role].Request)) })
	}
	if c.Hybrid && c.Near != nil {
		c.measure()
	}
	return c
}

func (c *Ring) cutIntoGaps(ring []gang.PlacedMember) {
	first := slices.IndexFunc(ring, func(s gang.PlacedMember) bool { return s.Fixed })
	if first < 0 {
		if len(ring) > 0 {
			c.Gaps = append(c.Gaps, Gap{Length: int64(len(ring)), Left: -1, Right: -1, Members: ring})
		}
		return
	}
	// Walk once around, from the first fixed member to itself.
	for i := 0; i < len(ring); {
		at := (first + i) % len(ring)
		length := 0
		for !ring[(at+1+length)%len(ring)].Fixed {
			length++
		}
		left, right := ring[at].Node, ring[(at+1+length)%len(ring)].Node
		if length == 0 {
			for u, v := tree.DomainID(left), tree.DomainID(right); u != v; u, v = c.t.Parent(u), c.t.Parent(v) {
				c.base[u]++
				c.base[v]++
			}
		} else {
			members := make([]gang.PlacedMember, length)
			for j := range members {
				members[j] = ring[(at+1+j)%len(ring)]
			}
			c.Gaps = append(c.Gaps, Gap{Length: int64(length), Start: int64(at + 1), Left: left, Right: right, Members: members})
		}
		i += length + 1
	}
}
