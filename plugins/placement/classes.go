// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// classes sorts the nodes of one domain after the other into those that are alike.
type classes struct {
	p       *problem
	members int
	domain  DomainID
	first   []NodeID // one of each class of the domain
	seen    []int
	fixed   map[NodeID]bool
}

// needs says whether a plan can need a node: it, and as many of its class as there are members. Nodes come in the order of
// their ids.
func (c *classes) needs(n NodeID) bool {
	c.runsOn(n)
	if domain := c.p.t.parent[n]; domain != c.domain || len(c.first) == 0 {
		c.domain, c.first, c.seen = domain, c.first[:0], c.seen[:0]
	}
	for i, of := range c.first {
		if c.p.alike(n, of) && !c.fixed[n] && !c.fixed[of] {
			c.seen[i]++
			return c.seen[i] <= c.members
		}
	}
	c.first, c.seen = append(c.first, n), append(c.seen, 1)
	return true
}

// runsOn says whether a member was placed on a node before.
func (c *classes) runsOn(n NodeID) bool {
	if c.fixed == nil {
		c.fixed = map[NodeID]bool{}
		for _, f := range c.p.fixed {
			c.fixed[f.node] = true
		}
	}
	return c.fixed[n]
}

// alike says whether two nodes side by side differ in nothing but their names, as far as a job can see.
func (p *problem) alike(a, b NodeID) bool {
	t := p.t
	for k := range p.kinds {
		kind := &p.kinds[k]
		if kind.shape.fit[a] != kind.shape.fit[b] || kind.penalty != nil && kind.penalty[a] != kind.penalty[b] {
			return false
		}
	}
	return t.parent[a] == t.parent[b] && t.bandwidth[a] == t.bandwidth[b] && slices.Equal(t.Free(DomainID(a)), t.Free(DomainID(b))) &&
		slices.Equal(t.gpus.of(a), t.gpus.of(b)) && slices.Equal(t.gpus.sizes(a), t.gpus.sizes(b))
}
