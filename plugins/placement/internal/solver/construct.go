// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// roleDemand is all that one role has to place: pod classes with equal pods.
type roleDemand struct {
	role       int
	podClasses []int
	want       int32
	shape      *tree.Shape
}

// roleDemands are the demands of a problem, in the order of roles.
func (p *problem) roleDemands() []roleDemand {
	var demands []roleDemand
	for k := range p.podClasses {
		i := 0
		for i < len(demands) && demands[i].role != p.podClasses[k].role {
			i++
		}
		if i == len(demands) {
			demands = append(demands, roleDemand{role: p.podClasses[k].role, shape: p.podClasses[k].shape})
		}
		demands[i].podClasses = append(demands[i].podClasses, k)
		demands[i].want += p.podClasses[k].count
	}
	return demands
}

func (p *problem) request(l *roleDemand) []int64 { return p.podClasses[l.podClasses[0]].request }

// share of all demands that a domain can hold, by sums: 1 and more if all. It is an upper bound.
func (p *problem) share(d tree.DomainID, demands []roleDemand) float64 {
	share := float64(tree.MaxFit)
	some := 0
	for i := range demands {
		if demands[i].want > 0 {
			share = min(share, float64(demands[i].shape.Sum(d))/float64(demands[i].want))
			some++
		}
	}
	if some < 2 || share == 0 {
		return share
	}
	for r, free := range p.t.Free(d) {
		var used int64
		for i := range demands {
			used += int64(demands[i].want) * p.request(&demands[i])[r]
		}
		if used > 0 {
			share = min(share, float64(max(0, free))/float64(used))
		}
	}
	return share
}

// workersWithoutServer is how many workers to place are in a domain that must have a server and has none.
func (p *problem) workersWithoutServer(d tree.DomainID, tier int, row []int32) int64 {
	if tier != p.colocationTier || row[gang.ServerClass] > 0 {
		return 0
	}
	sum := -p.working[d]
	for class, n := range row {
		if class > gang.ServerClass {
			sum += int64(n)
		}
	}
	return sum
}

// bestFitDescent fills a domain but for one child: a domain's members go to the tightest child that holds them all; where there
// is none, children are filled one after the other, those that hold most first. demands are what is to be placed, and what could
// not be placed afterwards.
func (b *partialAssignment) bestFitDescent(d tree.DomainID, tier int, demands []roleDemand, but tree.DomainID) {
	if tier == tree.NodeTier {
		b.fillNode(tree.NodeID(d), demands)
		return
	}
	lo, hi := b.p.t.Children(d)
	type child struct {
		id    tree.DomainID
		share float64
	}
	children := make([]child, 0, hi-lo)
	full := -1
	for c := lo; c < hi; c++ {
		share := b.p.share(c, demands)
		b.work++
		if share <= 0 || c == but {
			continue
		}
		children = append(children, child{id: c, share: share})
		if last := len(children) - 1; share >= 1 && (full < 0 || share < children[full].share) {
			full = last
		}
	}
	if full >= 0 {
		b.bestFitDescent(children[full].id, tier-1, demands, tree.NoDomain)
		if wanted(demands) == 0 {
			return
		}
		children = slices.Delete(children, full, full+1)
	}
	slices.SortFunc(children, func(x, y child) int { return cmp.Or(cmp.Compare(y.share, x.share), cmp.Compare(x.id, y.id)) })
	for i := 0; i < len(children) && wanted(demands) > 0; i++ {
		b.bestFitDescent(children[i].id, tier-1, demands, tree.NoDomain)
	}
}

// expandFromSeed fills a domain, then what is left of the one above it, and so on up to a tier.
func (b *partialAssignment) expandFromSeed(anchor tree.DomainID, tier, top int, demands []roleDemand) {
	done := tree.NoDomain
	for d := anchor; tier <= top && wanted(demands) > 0; d, tier = b.p.t.Parent(d), tier+1 {
		b.bestFitDescent(d, tier, demands, done)
		done = d
	}
}

func wanted(demands []roleDemand) int32 {
	var sum int32
	for i := range demands {
		sum += demands[i].want
	}
	return sum
}

// expense is what a member costs in a domain that is filled, in weights of borders: its own, those of the nodes that are
// needed at least, and those of the domains just below it.
func (p *problem) expense(d tree.DomainID, tier int, demands []roleDemand) float64 {
	largest := 0
	for i := range demands {
		if demands[i].want > demands[largest].want {
			largest = i
		}
	}
	l := &demands[largest]
	members := min(int64(l.want), l.shape.Sum(d))
	if members == 0 {
		return tree.MaxFit
	}
	price := int64(0)
	if tier < len(p.t.Weights()) {
		price = p.t.Weights()[tier]
	}
	if tier > tree.NodeTier {
		price += p.t.Weights()[tree.NodeTier] * l.shape.NodesFor(d, members)
	}
	if tier > tree.NodeTier+1 {
		price += p.t.Weights()[tier-1] * p.childrenFor(d, demands)
	}
	return float64(price) / float64(members)
}

// childrenFor is the least number of children of a domain that hold all members, by sums.
func (p *problem) childrenFor(d tree.DomainID, demands []roleDemand) (children int64) {
	lo, hi := p.t.Children(d)
	shares := make([]float64, 0, hi-lo)
	for c := lo; c < hi; c++ {
		shares = append(shares, p.share(c, demands))
	}
	slices.Sort(shares)
	for left := 1.0; left > 0 && len(shares) > 0; children++ {
		left -= shares[len(shares)-1]
		shares = shares[:len(shares)-1]
	}
	return children
}

// fillNode puts as many members on a node as fit, the last role first.
func (b *partialAssignment) fillNode(node tree.NodeID, demands []roleDemand) {
	for i := len(demands) - 1; i >= 0; i-- {
		b.put(node, &demands[i], b.whole(node, &demands[i]))
	}
}

// fillRest fills a scope with the members that have no node yet, whether parallel groups stay together or not, and reports
// whether all have one then.
func (b *partialAssignment) fillRest(s scope) bool {
	demands := b.p.roleDemands()
	for i := range demands {
		demands[i].want = 0
		for _, k := range demands[i].podClasses {
			demands[i].want += b.waiting[k]
		}
	}
	b.split = true
	b.bestFitDescent(s.domain, s.tier, demands, tree.NoDomain)
	b.split = false
	return b.complete()
}

// whole is how many of a role demand to put on a node: all that fit, but of parallel groups no more than stay together, if it is
// one at least.
func (b *partialAssignment) whole(node tree.NodeID, l *roleDemand) int32 {
	ring := b.p.ring
	if b.split || ring == nil || ring.Group == 1 || b.p.podClasses[l.podClasses[0]].class < 0 {
		return l.want
	}
	n, group := min(l.want, b.capacity(node, l.podClasses[0])), int32(ring.Group)
	if n > group && n < l.want {
		n -= n % group
	}
	return n
}

// put places n members of a role demand on a node, or as many as there is capacity for: pod classes in their order.
func (b *partialAssignment) put(node tree.NodeID, l *roleDemand, n int32) {
	if n = min(n, b.capacity(node, l.podClasses[0])); n <= 0 {
		return
	}
	l.want -= n
	for _, k := range l.podClasses {
		m := min(n, b.waiting[k])
		if m > 0 {
			b.add(node, k, m)
			n -= m
		}
	}
}

// roundRobinSets are sets of a scope's largest nodes, 2, 4, 8 and so on: where the busiest uplink goes first, more nodes may be
// better than fewer (over k equal nodes the busiest carries 2MW(k-1)/k^2 bytes).
func (p *problem) roundRobinSets(s scope) (sets [][]tree.NodeID) {
	demands := p.roleDemands()
	most := min(p.members(), maxTargets)
	nodes := p.largest(p.leafDomains(s, demands), demands, most)
	for n := 2; n < 2*len(nodes); n *= 2 {
		sets = append(sets, nodes[:min(n, len(nodes))])
	}
	return sets
}

// roundRobinStart puts members on nodes in turn, one at a time.
func (b *partialAssignment) roundRobinStart(nodes []tree.NodeID, demands []roleDemand) {
	for i := range demands {
		for placed := true; placed && demands[i].want > 0; {
			placed = false
			for _, n := range nodes {
				before := demands[i].want
				b.put(n, &demands[i], min(1, before))
				placed = placed || demands[i].want < before
			}
		}
	}
}
