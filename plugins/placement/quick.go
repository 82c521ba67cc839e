// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// onOneNode finds a node for the whole gang that costs no traffic and no preference: no plan is cheaper. Domains are
// descended to by the index of fits, the tightest first, so it costs O(children) for each tier.
func (p *problem) onOneNode(lo, hi NodeID) (NodeID, bool) {
	if len(p.fixed) > 0 {
		return 0, false
	}
	whole := p.whole()
	if whole == nil {
		return 0, false
	}
	node := p.tightestNode(whole)
	if node >= lo && node < hi && p.free(node) && p.harm(node, p.all()) < brokenHarm {
		return node, true
	}
	return p.freeNode(whole, lo, hi)
}

// freeTries bounds how many nodes freeNode compares, once it has one.
const freeTries = 64

// freeNode is for where the tightest node has its GPUs in several islands, say, or is one that the pods would rather avoid.
func (p *problem) freeNode(whole *fitShape, lo, hi NodeID) (NodeID, bool) {
	found, least := NodeID(-1), value{}
	all := p.all()
	for n, tries := lo, 0; n < hi && (found < 0 || tries < freeTries); n++ {
		if whole.fit[n] == 0 {
			continue
		}
		tries++
		if p.free(n) {
			if v := (value{harm: p.harm(n, all)}); found < 0 || v.less(least, p.byBusy) {
				found, least = n, v
			}
		}
	}
	return found, found >= 0
}

// whole is the shape of all members together, as one pod; nil if no node holds them.
func (p *problem) whole() *fitShape {
	root := p.t.Root()
	total := make([]int64, len(p.t.resources))
	var eligible *NodeSet
	for _, l := range p.lots() {
		if l.shape.most(root) < bucket(l.want) {
			return nil
		}
		for _, n := range p.kinds[l.kinds[0]].needs {
			if n.amount > maxAmount/int64(l.want) {
				return nil
			}
			total[n.resource] += int64(l.want) * n.amount
		}
		if of := p.d.Roles[l.role].Eligible; of != nil {
			eligible = eligible.and(of)
		}
	}
	var shape *fitShape
	if eligible == nil {
		shape = p.t.fits.shape(total)
	} else {
		shape = newFitShape(p.t, total, eligible)
	}
	if shape.sumOf(root) == 0 {
		return nil
	}
	return shape
}

// tightestNode that holds a shape: with the least room to spare, in the domains with the fewest free GPUs.
func (p *problem) tightestNode(s *fitShape) NodeID {
	t := p.t
	d, want := t.Root(), 1
	for s.count(d, want) == 0 {
		want++
	}
	for int(d) >= t.Nodes() {
		lo, hi := t.Children(d)
		best := NoDomain
		for c := lo; c < hi; c++ {
			if s.count(c, want) > 0 && (best == NoDomain || t.FreeGPUs(c) < t.FreeGPUs(best)) {
				best = c
			}
		}
		d = best
	}
	return NodeID(d)
}

// count of nodes of a domain that hold so many pods, the last bucket being "or more".
func (s *fitShape) count(d DomainID, fit int) int32 {
	if int(d) < len(s.fit) {
		if bucket(s.fit[d]) == fit {
			return 1
		}
		return 0
	}
	return s.nodes[int(d)-len(s.fit)][fit]
}

// free says whether all members on a node cost neither traffic nor preference, and workers have the server that they must.
func (p *problem) free(node NodeID) bool {
	row := make([]int32, p.classes)
	for k := range p.kinds {
		if class := p.kinds[k].class; class >= 0 {
			row[class] += p.kinds[k].count
		}
		if of := p.kinds[k].penalty; of != nil && of[node] > 0 {
			return false
		}
	}
	if p.coloc > 0 && p.lonely(DomainID(node), p.coloc, row) > 0 {
		return false
	}
	if len(p.t.gpus.of(node)) > 0 && p.unevenRing() {
		pods := newRingPods(p)
		v := pods.value(slices.Repeat([]NodeID{node}, len(pods.pods)))
		return v.bytes == 0 && v.busy == 0
	}
	v := p.leaf(node, row)
	return v.bytes == 0 && v.busy == 0
}

// unevenRing says whether pods of several sizes are on a ring: counts then do not tell what islands cost.
func (p *problem) unevenRing() bool {
	first := -1
	for k := range p.kinds {
		if p.d.Pattern != Collective || p.kinds[k].class < 0 || p.unit == 0 {
			continue
		}
		if first >= 0 && p.kinds[k].gpus != first {
			return true
		}
		first = p.kinds[k].gpus
	}
	return false
}

// all is how many members each kind has.
func (p *problem) all() []int32 {
	all := make([]int32, len(p.kinds))
	for k := range p.kinds {
		all[k] = p.kinds[k].count
	}
	return all
}
