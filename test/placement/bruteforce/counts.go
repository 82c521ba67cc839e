// SPDX-License-Identifier: Apache-2.0

package bruteforce

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/traffic"
)

// counts enumerates how many members of each role every node takes, node by node in the order of the tree. A domain's
// load is known once its last node is.
type counts struct {
	*search
	// cheap asks for any plan: costs are left out.
	cheap bool

	lo, hi  int
	at      [][]int // pending members by node and role
	left    []int   // of each role
	ahead   [][]int // by node and role: how many still fit on this node and those after it
	servers []int   // of each domain, new and placed
	workers []int
	fresh   []int // pending workers of each domain
	allP    int
	allW    int
}

const (
	silent = iota
	server
	worker
)

// part that a role has in the flows of a parameter server job.
func (s *search) part(role int) int {
	if s.demand.Pattern != placement.ParameterServer {
		return silent
	}
	switch s.demand.Roles[role].Traffic {
	case placement.Server:
		return server
	case placement.Worker, placement.HeterWorker:
		return worker
	default:
		return silent
	}
}

// run finds the best plan of all pending members; it returns the bytes of one unit of cost.
//
//	T_v = (M/P) (p_v (W - w_v) + w_v (P - p_v))        X_tier = sum over domains v of T_v
func (c *counts) run(need []int) (unit float64) {
	for _, r := range c.allowed() {
		c.within(r, need)
	}
	if c.allP == 0 {
		return 0
	}
	return traffic.Bytes(c.demand) / float64(c.allP)
}

// fit says whether so many members of each role have room.
func (c *counts) fit(need []int) bool {
	for _, r := range c.allowed() {
		c.within(r, need)
		if c.found {
			return true
		}
	}
	return false
}

// fitLess says whether any numbers of members between the minimums and all have room.
func (c *counts) fitLess(whole []int) bool {
	need := make([]int, len(whole))
	var some func(role int) bool
	some = func(role int) bool {
		if role == len(whole) {
			return c.fit(need)
		}
		d := &c.demand.Roles[role]
		for need[role] = max(0, d.Minimum-len(d.Placed)); need[role] <= whole[role]; need[role]++ {
			if some(role + 1) {
				return true
			}
		}
		return false
	}
	return some(0)
}

func (c *counts) within(nodes [2]int, need []int) {
	c.lo, c.hi = nodes[0], nodes[1]
	c.begin(need)
	if c.required() && c.allP == 0 && slices.Max(c.ofPart(worker, need)) > 0 {
		return
	}
	c.ahead = make([][]int, c.hi+1)
	c.ahead[c.hi] = make([]int, len(need))
	for n := c.hi - 1; n >= c.lo; n-- {
		c.ahead[n] = slices.Clone(c.ahead[n+1])
		for r := range need {
			if c.eligible(r, n) {
				c.ahead[n][r] += traffic.Fits(c.tree.Free[n], c.demand.Roles[r].Request, need[r])
			}
		}
	}
	c.node(c.lo, 0, 0)
}

// begin counts the placed members, and so many more of each role in all.
func (c *counts) begin(need []int) {
	c.left = slices.Clone(need)
	c.at = make([][]int, c.tree.Nodes)
	c.servers, c.workers, c.fresh = make([]int, c.tree.Domains), make([]int, c.tree.Domains), make([]int, c.tree.Domains)
	c.allP, c.allW = 0, 0
	for n := range c.at {
		c.at[n] = make([]int, len(need))
	}
	for r := range need {
		switch c.part(r) {
		case server:
			c.allP += need[r] + len(c.demand.Roles[r].Placed)
		case worker:
			c.allW += need[r] + len(c.demand.Roles[r].Placed)
		}
		for _, member := range c.demand.Roles[r].Placed {
			c.put(r, int(member.Node), 1, false)
		}
	}
}

// required says whether workers may only be where servers are.
func (c *counts) required() bool {
	return c.demand.Pattern == placement.ParameterServer && c.demand.Colocation == placement.Required
}

// ofPart are the numbers of those roles that have a part, and 0 for the others.
func (c *counts) ofPart(part int, need []int) []int {
	of := make([]int, len(need))
	for r := range need {
		if c.part(r) == part {
			of[r] = need[r]
		}
	}
	return of
}

// put adds members of a role to a node and the domains above.
func (c *counts) put(role, node, members int, fresh bool) {
	part := c.part(role)
	for tier := placement.NodeTier; tier < c.tree.Tiers; tier++ {
		d := c.tree.Up[node][tier]
		switch part {
		case server:
			c.servers[d] += members
		case worker:
			c.workers[d] += members
			if fresh {
				c.fresh[d] += members
			}
		}
	}
}

// node chooses for one node and all after it. priced and busiest are those of domains that are complete.
func (c *counts) node(n int, priced, busiest float64) {
	c.visited++
	if c.spent() || c.cheap && c.found || !c.cheap && c.hopeless(priced, busiest) {
		return
	}
	for r, left := range c.left {
		if left > c.ahead[n][r] {
			return
		}
	}
	if n == c.hi {
		c.found, c.best, c.plan = true, c.order(priced, busiest), c.assignments()
		return
	}
	c.role(n, 0, slices.Clone(c.tree.Free[n]), priced, busiest)
}

// role chooses how many members of a role, and of those after it, a node takes.
func (c *counts) role(n, r int, free []int64, priced, busiest float64) {
	if r == len(c.left) {
		if priced, busiest, ok := c.close(n, priced, busiest); ok {
			c.node(n+1, priced, busiest)
		}
		return
	}
	request := c.demand.Roles[r].Request
	most := 0
	if c.eligible(r, n) {
		most = traffic.Fits(free, request, c.left[r])
	}
	for k := most; k >= 0; k-- {
		traffic.Take(free, request, k)
		c.at[n][r], c.left[r] = k, c.left[r]-k
		c.put(r, n, k, true)
		c.role(n, r+1, free, priced, busiest)
		c.put(r, n, -k, true)
		c.at[n][r], c.left[r] = 0, c.left[r]+k
		traffic.Take(free, request, -k)
	}
}

// close adds the domains that a node is the last of, in units of M/P; ok is false if workers lack a server.
func (c *counts) close(n int, priced, busiest float64) (float64, float64, bool) {
	for _, d := range c.tree.Closes[n] {
		if c.required() && c.tree.TierOf[d] == max(1, c.demand.ColocationTier) && c.fresh[d] > 0 && c.servers[d] == 0 {
			return 0, 0, false
		}
		p, w := c.servers[d], c.workers[d]
		load := float64(p*(c.allW-w) + w*(c.allP-p))
		priced += c.tree.Price[c.tree.TierOf[d]] * load
		busiest = max(busiest, load/c.tree.Width[d])
	}
	return priced, busiest, true
}

// assignments names members in index order along the nodes.
func (c *counts) assignments() []placement.Assignment {
	var plan []placement.Assignment
	for r := range c.left {
		next := 0
		for n := range c.at {
			for range c.at[n][r] {
				plan = append(plan, placement.Assignment{Role: r, Index: c.demand.Roles[r].Pending[next], Node: placement.NodeID(n)})
				next++
			}
		}
	}
	return plan
}
