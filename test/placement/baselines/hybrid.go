// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// layered places a ring of equal pods in slices of several layers: layers[i] pods, a multiple of layers[i-1], stay in one domain of
// the i-th tier from the node.
type layered struct {
	in     *instances.Loaded
	layers []int
	held   []int // pods of each node
	plan   []placement.Assignment
}

// Layered places as Kueue's topology-aware scheduling does with slices of several layers: the tightest domain of the lowest tier that
// holds all is filled, the fullest children first and the last one the tightest that will do. Ranks follow the names of nodes. The
// highest layers are dropped where slices leave too little.
func Layered(in *instances.Loaded, layers []int) []placement.Assignment {
	l := &layered{in: in, layers: layers, held: make([]int, in.Topology.Nodes())}
	pods := len(in.Demand.Roles[0].Pending)
	l.fill(l.whole(pods), pods)
	slices.SortFunc(l.plan, func(a, b placement.Assignment) int { return cmp.Compare(a.Node, b.Node) })
	for i := range l.plan {
		l.plan[i].Index = i
	}
	return l.plan
}

// Segments places as KAI does with segments: in the tightest domain of the lowest tier that holds all, each segment of
// size consecutive pods goes to the tightest rack that holds it.
func Segments(in *instances.Loaded, size int) []placement.Assignment {
	l := &layered{in: in, layers: []int{1, size}, held: make([]int, in.Topology.Nodes())}
	pods := len(in.Demand.Roles[0].Pending)
	within := l.whole(pods)
	for len(l.plan) < pods {
		if len(l.layers) > 1 {
			l.layers = []int{1, min(size, pods-len(l.plan))}
		}
		first, last := in.Topology.NodesOf(within)
		lo, hi := in.Topology.Ancestor(first, placement.NodeTier+1), in.Topology.Ancestor(last-1, placement.NodeTier+1)
		n := min(size, pods-len(l.plan))
		d := tightest(l.fits(lo, hi+1), n)
		if d == placement.NoDomain || in.Topology.TierOf(within) <= placement.NodeTier {
			d = within
		}
		l.fill(d, n)
	}
	return l.plan
}

// whole returns the tightest domain of the lowest tier that holds the pods. It drops layers until there is one.
func (l *layered) whole(pods int) placement.DomainID {
	for ; ; l.layers = l.layers[:len(l.layers)-1] {
		for tier := placement.NodeTier; tier <= len(l.in.Topology.Tiers()); tier++ {
			if d := tightest(l.fits(l.in.Topology.Domains(tier)), pods); d != placement.NoDomain {
				return d
			}
		}
	}
}

type capacity struct {
	domain placement.DomainID
	pods   int
}

// fits returns how many more pods each of some domains of one tier holds in whole slices.
func (l *layered) fits(lo, hi placement.DomainID) (all []capacity) {
	for d := lo; d < hi; d++ {
		tier, pods := l.in.Topology.TierOf(d)-placement.NodeTier, 0
		if tier == 0 {
			pods = instances.Fits(l.in.Topology.Free(d), l.in.Demand.Roles[0].Request, 1<<20) - l.held[d]
		} else {
			for _, child := range l.fits(l.in.Topology.Children(d)) {
				pods += child.pods
			}
		}
		if tier < len(l.layers) {
			pods -= pods % l.layers[tier]
		}
		all = append(all, capacity{d, pods})
	}
	return all
}

// tightest returns the tightest of the domains that hold the pods.
func tightest(all []capacity, pods int) placement.DomainID {
	best := capacity{domain: placement.NoDomain}
	for _, c := range all {
		if c.pods >= pods && (best.domain == placement.NoDomain || c.pods < best.pods) {
			best = c
		}
	}
	return best.domain
}

func (l *layered) fill(d placement.DomainID, pods int) {
	if int(d) < len(l.held) {
		l.held[d] += pods
		for range pods {
			l.plan = append(l.plan, placement.Assignment{Index: len(l.plan), Node: placement.NodeID(d)})
		}
		return
	}
	all := l.fits(l.in.Topology.Children(d))
	slices.SortStableFunc(all, func(a, b capacity) int { return cmp.Compare(b.pods, a.pods) })
	for i := 0; pods > 0; i++ {
		c := all[i]
		if last := tightest(all[i:], pods); last != placement.NoDomain {
			c = capacity{last, pods}
		}
		l.fill(c.domain, c.pods)
		pods -= c.pods
	}
}
