// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

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

// pack puts the roles in one after the other; of up to three roles it tries all orders.
func (g *pendingGang) pack(v tree.DomainID) *gangFit {
	var best *gangFit
	bound := g.bound(v)
	for _, order := range ordersOf(g.roles) {
		if p := g.packBy(v, order); best == nil || p.total > best.total {
			best = p
		}
		if best.total == bound {
			break
		}
	}
	return best
}

// packBy puts the roles in, in this order.
func (g *pendingGang) packBy(v tree.DomainID, order []int) *gangFit {
	p := &gangFit{g: g, domain: v, together: make([]int64, len(g.need))}
	p.lo, p.hi = g.t.NodesOf(v)
	p.left = make([]int64, 0, int(p.hi-p.lo)*len(g.t.Resources()))
	for n := p.lo; n < p.hi; n++ {
		p.left = append(p.left, g.t.Free(tree.DomainID(n))...)
	}
	for i := range order {
		p.put(order[i], order[i+1:])
	}
	return p
}

func ordersOf(roles []int) [][]int {
	if len(roles) != 2 && len(roles) != 3 {
		return [][]int{roles}
	}
	var orders [][]int
	for i, first := range roles {
		rest := slices.Delete(slices.Clone(roles), i, i+1)
		for _, order := range ordersOf(rest) {
			orders = append(orders, append([]int{first}, order...))
		}
	}
	return orders
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

// nodeFit is a node that so many members of a role fit on, and how many members of later roles would.
type nodeFit struct {
	node        tree.NodeID
	fit, others int64
}

// put a role in, first where it takes least from the roles that come later.
func (p *gangFit) put(role int, later []int) {
	request := p.g.d.Roles[role].Request
	var nodes []nodeFit
	var capacity int64
	for n := p.lo; n < p.hi; n++ {
		if !p.eligible(role, n) {
			continue
		}
		if fit := int64(tree.Fits(p.of(n), request)); fit > 0 {
			nodes = append(nodes, nodeFit{node: n, fit: fit})
			capacity += fit
		}
	}
	if capacity > p.g.need[role] && len(later) > 0 {
		p.sortFor(nodes, later)
	}
	for _, at := range nodes {
		take := min(at.fit, p.g.need[role]-p.together[role])
		if take == 0 {
			return
		}
		p.together[role] += take
		p.total += take
		left := p.of(at.node)
		for r, amount := range request {
			if amount > 0 {
				left[r] -= take * amount
			}
		}
	}
}

func (p *gangFit) sortFor(nodes []nodeFit, later []int) {
	for i := range nodes {
		for _, role := range later {
			if p.eligible(role, nodes[i].node) {
				nodes[i].others += min(p.g.need[role], int64(tree.Fits(p.of(nodes[i].node), p.g.d.Roles[role].Request)))
			}
		}
	}
	slices.SortFunc(nodes, func(a, b nodeFit) int {
		return cmp.Or(cmp.Compare(a.others*b.fit, b.others*a.fit), cmp.Compare(a.node, b.node))
	})
}
