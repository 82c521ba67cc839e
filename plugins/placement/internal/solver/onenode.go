// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// onOneNode finds a node for the whole gang that costs no traffic and no preference: no plan is cheaper. Domains are
// descended to by the index of fits, the tightest first, so it costs O(children) for each tier.
func (p *problem) onOneNode(lo, hi tree.NodeID) (tree.NodeID, bool) {
	if len(p.fixed) > 0 {
		return 0, false
	}
	whole := p.whole()
	if whole == nil {
		return 0, false
	}
	node := p.tightestNode(whole)
	if node >= lo && node < hi && p.costsNothing(node) && p.fragmentation(node, p.all()) < brokenIslandWeight {
		return node, true
	}
	return p.anyNode(whole, lo, hi)
}

// anyNodeTries bounds how many nodes anyNode compares, once it has one.
const anyNodeTries = 64

// anyNode is for where the tightest node has its GPUs in several islands, say, or is one that the pods would rather avoid.
func (p *problem) anyNode(whole *tree.Shape, lo, hi tree.NodeID) (tree.NodeID, bool) {
	found, least := tree.NodeID(-1), value{}
	all := p.all()
	for n, tries := lo, 0; n < hi && (found < 0 || tries < anyNodeTries); n++ {
		if whole.Fit(n) == 0 {
			continue
		}
		tries++
		if p.costsNothing(n) {
			if v := (value{fragmentation: p.fragmentation(n, all)}); found < 0 || v.less(least, p.byBusy) {
				found, least = n, v
			}
		}
	}
	return found, found >= 0
}

// whole is the shape of all members together, as one pod; nil if no node holds them.
func (p *problem) whole() *tree.Shape {
	root := p.t.Root()
	total := make([]int64, len(p.t.Resources()))
	var eligible *tree.NodeSet
	for _, l := range p.roleDemands() {
		if l.shape.MostOnNode(root) < tree.Bucket(l.want) {
			return nil
		}
		for _, n := range p.podClasses[l.podClasses[0]].needs {
			if n.amount > tree.MaxAmount/int64(l.want) {
				return nil
			}
			total[n.resource] += int64(l.want) * n.amount
		}
		eligible = eligible.And(p.d.Roles[l.role].Eligible)
	}
	shape := p.t.ShapeOn(total, eligible)
	if shape.Sum(root) == 0 {
		return nil
	}
	return shape
}

// tightestNode that holds a shape: with the least capacity to spare, in the domains with the fewest free GPUs.
func (p *problem) tightestNode(s *tree.Shape) tree.NodeID {
	t := p.t
	d, want := t.Root(), 1
	for s.NodesHolding(d, want) == 0 {
		want++
	}
	for int(d) >= t.Nodes() {
		lo, hi := t.Children(d)
		best := tree.NoDomain
		for c := lo; c < hi; c++ {
			if s.NodesHolding(c, want) > 0 && (best == tree.NoDomain || t.FreeGPUs(c) < t.FreeGPUs(best)) {
				best = c
			}
		}
		d = best
	}
	return tree.NodeID(d)
}

// costsNothing reports whether all members on a node cost neither traffic nor preference, and workers have the server that they must.
func (p *problem) costsNothing(node tree.NodeID) bool {
	row := make([]int32, p.classes)
	for k := range p.podClasses {
		if class := p.podClasses[k].class; class >= 0 {
			row[class] += p.podClasses[k].count
		}
		if of := p.podClasses[k].penalty; of != nil && of[node] > 0 {
			return false
		}
	}
	if p.colocationTier > 0 && p.workersWithoutServer(tree.DomainID(node), p.colocationTier, row) > 0 {
		return false
	}
	if len(p.t.FreeIslands(node)) > 0 && p.unevenRing() {
		pods := newRingPods(p)
		v := pods.value(slices.Repeat([]tree.NodeID{node}, len(pods.pods)))
		return v.bytes == 0 && v.busy == 0
	}
	v := p.leaf(node, row)
	return v.bytes == 0 && v.busy == 0
}

// unevenRing reports whether pods of several sizes are on a ring: counts then do not tell what islands cost.
func (p *problem) unevenRing() bool {
	first := -1
	for k := range p.podClasses {
		if p.d.Pattern != gang.Collective || p.podClasses[k].class < 0 || p.unit == 0 {
			continue
		}
		if first >= 0 && p.podClasses[k].gpus != first {
			return true
		}
		first = p.podClasses[k].gpus
	}
	return false
}

// all is how many members each pod class has.
func (p *problem) all() []int32 {
	all := make([]int32, len(p.podClasses))
	for k := range p.podClasses {
		all[k] = p.podClasses[k].count
	}
	return all
}
