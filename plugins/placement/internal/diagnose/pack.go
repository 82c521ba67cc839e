// SPDX-License-Identifier: Apache-2.0

package diagnose

import "github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"

// gangFit is a way to put as much of a gang as was found into one domain, with capacities and eligible nodes as the only
// limits.
type gangFit struct {
	g        *pendingGang
	domain   tree.DomainID
	lo, hi   tree.NodeID
	left     []int64 // of each node, node-major
	together []int64 // of each role
	total    int64
}

// pack puts the roles in one after the other, the hardest first.
func (g *pendingGang) pack(v tree.DomainID) *gangFit {
	p := &gangFit{g: g, domain: v, together: make([]int64, len(g.need))}
	p.lo, p.hi = g.t.NodesOf(v)
	p.left = make([]int64, 0, int(p.hi-p.lo)*len(g.t.Resources()))
	for n := p.lo; n < p.hi; n++ {
		p.left = append(p.left, g.t.Free(tree.DomainID(n))...)
	}
	for _, role := range g.roles {
		p.put(role)
	}
	return p
}

// capacity returns what of the gang fits.
func (p *gangFit) capacity() DomainCapacity {
	t := p.g.t
	tier := t.TierOf(p.domain)
	c := DomainCapacity{ID: p.domain, Name: t.ShortName(p.domain), Tier: tier, TierName: t.TierName(tier)}
	for _, n := range p.together {
		c.Fits = append(c.Fits, int(n))
	}
	return c
}

// of is what is left of a node.
func (p *gangFit) of(n tree.NodeID) []int64 {
	size := len(p.g.t.Resources())
	at := int(n-p.lo) * size
	return p.left[at : at+size]
}

func (p *gangFit) eligible(role int, n tree.NodeID) bool {
	set := p.g.d.Roles[role].Eligible
	return set == nil || set.Has(n)
}

// put puts as many members of a role as are needed on the first nodes that hold them.
func (p *gangFit) put(role int) {
	request := p.g.d.Roles[role].Request
	for n := p.lo; n < p.hi && p.together[role] < p.g.need[role]; n++ {
		if !p.eligible(role, n) {
			continue
		}
		take := min(int64(tree.Fits(p.of(n), request)), p.g.need[role]-p.together[role])
		p.together[role] += take
		p.total += take
		left := p.of(n)
		for r, amount := range request {
			if amount > 0 {
				left[r] -= take * amount
			}
		}
	}
}
