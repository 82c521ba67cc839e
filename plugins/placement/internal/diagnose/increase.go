// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// moreWork bounds the nodes that are looked at for more capacity, over all members.
const moreWork = 1 << 22

// moreCapacity makes capacity free in the best domain. Each member that does not fit gets it where least is
// short, one after the other.
func (s *suggester) moreCapacity() (Suggestion, bool, error) {
	r := Suggestion{Change: MoreCapacity}
	if s.runningDomains > 1 {
		return r, false, nil
	}
	c := &capacityIncrease{pendingGang: s.pendingGang, pack: s.pack(s.fit.domain), given: map[tree.NodeID][]int64{}, times: map[tree.NodeID]int{}}
	missing := int64(0)
	for _, role := range s.roles {
		for n := c.pack.together[role]; n < s.need[role]; n++ {
			if missing++; missing*int64(c.pack.hi-c.pack.lo) > moreWork || !c.give(role) {
				return r, false, nil
			}
		}
	}
	for n := c.pack.lo; n < c.pack.hi; n++ {
		if amounts := c.given[n]; slices.ContainsFunc(amounts, func(amount int64) bool { return amount > 0 }) {
			r.Increases = append(r.Increases, NodeIncrease{Node: n, Name: s.t.NodeName(n), Amounts: amounts})
		}
	}
	if missing == 0 {
		return r, false, nil
	}
	ok, err := s.works(&r)
	return r, ok, err
}

// capacityIncrease makes capacity for members beside those that a pack has placed.
type capacityIncrease struct {
	*pendingGang
	pack  *gangFit
	given map[tree.NodeID][]int64
	times map[tree.NodeID]int // that a node was given something
}

// give makes capacity for one member of a role on the eligible node that lacks least for it, then the one that was given something
// least often, then the one with most free GPUs, then by name; false if no node can have so much.
func (c *capacityIncrease) give(role int) bool {
	request := c.d.Roles[role].Request
	best, least := tree.NodeID(-1), shortage{}
	for n := c.pack.lo; n < c.pack.hi; n++ {
		if !c.pack.eligible(role, n) {
			continue
		}
		short := c.shortage(c.pack.of(n), request)
		if best < 0 || cmp.Or(short.compare(least), cmp.Compare(c.times[n], c.times[best]),
			cmp.Compare(c.t.FreeGPUs(tree.DomainID(best)), c.t.FreeGPUs(tree.DomainID(n)))) < 0 {
			best, least = n, short
		}
	}
	if best < 0 {
		return false
	}
	c.times[best]++
	if c.given[best] == nil {
		c.given[best] = make([]int64, len(request))
	}
	left, given := c.pack.of(best), c.given[best]
	for i, amount := range request {
		if amount > 0 {
			more := max(0, amount-max(0, left[i]))
			left[i] = max(0, left[i]) + more - amount
			given[i] += more
		}
		if given[i]+max(0, c.t.Free(tree.DomainID(best))[i]) > tree.MaxAmount {
			return false
		}
	}
	return len(c.t.FreeIslands(best)) == 0 || c.t.FreeGPUs(tree.DomainID(best))+c.t.GPUs(given) <= math.MaxInt16
}
