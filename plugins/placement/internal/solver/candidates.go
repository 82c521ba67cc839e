// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// scope is a domain within which a start places all members.
type scope struct {
	domain  tree.DomainID
	tier    int
	expense float64 // what a member costs there at least, by sums
	share   float64
}

const (
	// scopesPerTier are tried; smallScopes for jobs of few members, where each is searched well, and for large ones.
	scopesPerTier = 8
	smallScopes   = 3
	smallMembers  = 16
)

// highest is the tier of the domains within one of which all members must be.
func (p *problem) highest() int {
	if p.limit > 0 {
		return p.limit
	}
	return len(p.t.Tiers())
}

// scopes are the domains of a tier that may hold the job: those that need the fewest nodes first, of these the tightest.
// Where all members must be within one of them, it returns all of these; else a few.
func (p *problem) scopes(tier int, lo, hi tree.NodeID) []scope {
	if tier == tree.NodeTier && p.whole() == nil {
		return nil // no node holds all
	}
	demands := p.roleDemands()
	begin, end := p.t.Ancestor(lo, tier), p.t.Ancestor(hi-1, tier)
	all := make([]scope, 0, end-begin+1)
	for d := begin; d <= end; d++ {
		if share := p.share(d, demands); share >= 1 {
			all = append(all, scope{domain: d, tier: tier, expense: p.expense(d, tier, demands), share: share})
		}
	}
	compare := func(a, b scope) int {
		return cmp.Or(cmp.Compare(a.expense, b.expense), cmp.Compare(a.share, b.share), cmp.Compare(a.domain, b.domain))
	}
	if tier == p.limit {
		slices.SortFunc(all, compare)
		return all
	}
	most := scopesPerTier
	if n := p.members(); n <= smallMembers || n > largeJob*p.effort {
		most = smallScopes
	}
	return first(all, most*p.effort, compare)
}

// leaving is the least that a plan costs whose members are in several domains of a tier: a single member that is apart
// from all others, across this tier and all below.
func (p *problem) leaving(tier int) int64 {
	if p.ring != nil && !p.ring.Plain() {
		return 0 // a parallel group that is apart costs less than one of its members
	}
	least := int64(math.MaxInt64)
	row := make([]int32, p.classes)
	for k := range p.podClasses {
		class := p.podClasses[k].class
		if class < 0 {
			return 0 // silent members may be apart at no cost
		}
		row[class] = 1
		least = min(least, p.traffic.Load(p.t.Root(), row))
		row[class] = 0
	}
	if least == math.MaxInt64 || len(p.fixed) > 0 {
		return 0
	}
	price := int64(0)
	for t := tree.NodeTier; t <= min(tier, len(p.t.Weights())-1); t++ {
		price += p.t.Weights()[t]
	}
	return 2 * least * price
}

// atLeast is the least that a plan in a scope costs: for a ring, what it costs to use as many nodes as it must.
func (s scope) atLeast(p *problem) int64 {
	ring := p.ring
	if ring == nil || len(p.fixed) > 0 || len(p.podClasses) != 1 || len(ring.Gaps) != 1 || p.unit == 0 || s.tier == tree.NodeTier {
		return 0
	}
	nodes := p.podClasses[0].shape.NodesFor(s.domain, int64(p.podClasses[0].count))
	if nodes < 2 {
		return 0
	}
	return 2 * nodes * (p.t.Weights()[tree.IslandTier] + p.t.Weights()[tree.NodeTier])
}

const maxTargets = 64

// targets are the nodes of a small scope to which members may be moved; in a larger one improve finds its own.
func (p *problem) targets(s scope) []tree.NodeID {
	var nodes []tree.NodeID
	lo, hi := p.t.NodesOf(s.domain)
	for n := lo; n < hi && len(nodes) < maxTargets*p.effort; n++ {
		if p.fitsAny(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// fitsAny reports whether a node has capacity for a member of any pod class.
func (p *problem) fitsAny(n tree.NodeID) bool {
	return slices.ContainsFunc(p.podClasses, func(k podClass) bool { return k.shape.Fit(n) > 0 })
}

const (
	// seedNodesPerScope bounds the nodes of a scope that hold members already and are begun at.
	seedNodesPerScope = 4
	// leafDomainsPerScope is the number of the lowest domains above nodes, the most promising ones, in which large nodes are looked for.
	leafDomainsPerScope = 8
)

// seedNodes are nodes of a scope to begin at: those that hold members already.
func (p *problem) seedNodes(s scope) (nodes []tree.NodeID) {
	for _, f := range p.fixed {
		if len(nodes) < seedNodesPerScope*p.effort && p.t.Holds(s.domain, f.node) && !slices.Contains(nodes, f.node) {
			nodes = append(nodes, f.node)
		}
	}
	return nodes
}

type scoredDomain struct {
	domain tree.DomainID
	score  float64
}

func byScore(a, b scoredDomain) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.domain, b.domain))
}

// first n in an order; it reorders all. Few of many are found faster than by sorting.
func first[T any](all []T, n int, compare func(a, b T) int) []T {
	n = min(n, len(all))
	for i := range n {
		for j := i + 1; j < len(all); j++ {
			if compare(all[j], all[i]) < 0 {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	return all[:n]
}

// leafDomains are the domains just above nodes with the most promising large nodes.
func (p *problem) leafDomains(s scope, demands []roleDemand) []scoredDomain {
	if s.tier == tree.NodeTier {
		return []scoredDomain{{domain: s.domain}}
	}
	lo, hi := p.t.NodesOf(s.domain)
	var leaves []scoredDomain
	for d := p.t.Parent(tree.DomainID(lo)); d <= p.t.Parent(tree.DomainID(hi-1)); d++ {
		share := 1.0
		for i := range demands {
			share *= float64(min(tree.Bucket(demands[i].want), demands[i].shape.MostOnNode(d))) + 0.01
		}
		leaves = append(leaves, scoredDomain{d, share})
	}
	return first(leaves, leafDomainsPerScope*p.effort, byScore)
}

// largest nodes of some domains, a few.
func (p *problem) largest(leaves []scoredDomain, demands []roleDemand, most int) (nodes []tree.NodeID) {
	var all []scoredDomain
	for _, leaf := range leaves {
		lo, hi := p.t.NodesOf(leaf.domain)
		for n := lo; n < hi; n++ {
			share := 1.0
			for i := range demands {
				share *= float64(min(demands[i].want, demands[i].shape.Fit(n))) + 0.01
			}
			all = append(all, scoredDomain{tree.DomainID(n), share})
		}
	}
	for _, a := range first(all, most, byScore) {
		nodes = append(nodes, tree.NodeID(a.domain))
	}
	return nodes
}

// classes sorts the nodes of one domain after the other into those that are alike.
type classes struct {
	p       *problem
	members int
	domain  tree.DomainID
	first   []tree.NodeID // one of each class of the domain
	seen    []int
	fixed   map[tree.NodeID]bool // members were placed there before
}

func (p *problem) newClasses() *classes {
	c := &classes{p: p, members: p.members(), fixed: map[tree.NodeID]bool{}}
	for _, f := range p.fixed {
		c.fixed[f.node] = true
	}
	return c
}

// needs reports whether a plan can need a node: it, and as many of its class as there are members. Nodes come in the order of
// their ids.
func (c *classes) needs(n tree.NodeID) bool {
	if domain := c.p.t.Parent(tree.DomainID(n)); domain != c.domain || len(c.first) == 0 {
		c.domain, c.first, c.seen = domain, c.first[:0], c.seen[:0]
	}
	for i, of := range c.first {
		if c.p.interchangeable(n, of) && !c.fixed[n] && !c.fixed[of] {
			c.seen[i]++
			return c.seen[i] <= c.members
		}
	}
	c.first, c.seen = append(c.first, n), append(c.seen, 1)
	return true
}

// interchangeable reports whether two nodes side by side differ in nothing that a job depends on.
func (p *problem) interchangeable(a, b tree.NodeID) bool {
	t := p.t
	for k := range p.podClasses {
		kind := &p.podClasses[k]
		if kind.shape.Fit(a) != kind.shape.Fit(b) || kind.penalty != nil && kind.penalty[a] != kind.penalty[b] {
			return false
		}
	}
	return t.Parent(tree.DomainID(a)) == t.Parent(tree.DomainID(b)) && slices.Equal(t.Free(tree.DomainID(a)), t.Free(tree.DomainID(b))) &&
		slices.Equal(t.FreeIslands(a), t.FreeIslands(b)) && slices.Equal(t.IslandSizes(a), t.IslandSizes(b))
}
