// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"slices"
)

const (
	anchorsPerScope = 4
	// anchorDomains are so many of the lowest domains above nodes, the most promising ones, in which anchors are looked for.
	anchorDomains = 8
)

// anchors are nodes of a scope to begin at.
func (p *problem) anchors(s scope) []NodeID {
	most := anchorsPerScope * p.effort
	if p.members() > largeJob*p.effort {
		most = 1
	}
	return p.anchorsOf(s, most)
}

// anchorsOf a scope: those that hold members already, and so many that hold most.
func (p *problem) anchorsOf(s scope, most int) []NodeID {
	lots := p.lots()
	var nodes []NodeID
	for _, f := range p.fixed {
		if len(nodes) < anchorsPerScope*p.effort && p.t.Holds(s.domain, f.node) && !slices.Contains(nodes, f.node) {
			nodes = append(nodes, f.node)
		}
	}
	return append(nodes, p.largest(p.leaves(s, lots), lots, most)...)
}

// seedsPerTier are so many domains of each tier below a scope, those that hold most of the job.
const seedsPerTier = 4

// seeds are the domains of a tier to begin at: a job that is a little too large for them leaves little elsewhere.
func (p *problem) seeds(s scope, tier int) (seeds []DomainID) {
	lots := p.lots()
	lo, hi := p.t.NodesOf(s.domain)
	var all []promise
	for d := p.t.Ancestor(lo, tier); d <= p.t.Ancestor(hi-1, tier); d++ {
		if share := p.share(d, lots); share > 0 {
			all = append(all, promise{d, share})
		}
	}
	most := seedsPerTier * p.effort
	if p.members() > largeJob*p.effort {
		most = 1
	}
	for _, found := range first(all, most) {
		seeds = append(seeds, found.domain)
	}
	return seeds
}

type promise struct {
	domain DomainID
	share  float64
}

func byPromise(a, b promise) int {
	return cmp.Or(cmp.Compare(b.share, a.share), cmp.Compare(a.domain, b.domain))
}

// leaves are the domains just above nodes whose largest nodes promise most.
func (p *problem) leaves(s scope, lots []lot) []promise {
	if s.tier == NodeTier {
		return []promise{{domain: s.domain}}
	}
	lo, hi := p.t.NodesOf(s.domain)
	var leaves []promise
	for d := p.t.parent[lo]; d <= p.t.parent[hi-1]; d++ {
		share := 1.0
		for i := range lots {
			share *= float64(min(bucket(lots[i].want), lots[i].shape.most(d))) + 0.01
		}
		leaves = append(leaves, promise{d, share})
	}
	return first(leaves, anchorDomains*p.effort)
}

// largest nodes of some domains, a few.
func (p *problem) largest(leaves []promise, lots []lot, most int) (nodes []NodeID) {
	var all []promise
	for _, leaf := range leaves {
		lo, hi := p.t.NodesOf(leaf.domain)
		for n := lo; n < hi; n++ {
			share := 1.0
			for i := range lots {
				share *= float64(min(lots[i].want, lots[i].shape.fit[n])) + 0.01
			}
			all = append(all, promise{DomainID(n), share})
		}
	}
	for _, a := range first(all, most) {
		nodes = append(nodes, NodeID(a.domain))
	}
	return nodes
}

// first n in the order of promise; it reorders all.
func first(all []promise, n int) []promise {
	n = min(n, len(all))
	for i := range n {
		best := i
		for j := i + 1; j < len(all); j++ {
			if byPromise(all[j], all[best]) < 0 {
				best = j
			}
		}
		all[i], all[best] = all[best], all[i]
	}
	return all[:n]
}
