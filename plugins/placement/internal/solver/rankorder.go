// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

const (
	// exchangeWork bounds the exchanges of two pods that are tried.
	exchangeWork = 1 << 15
	// permuteWork bounds the pods that are given nodes in the orders of the axes.
	permuteWork = 1 << 17
)

// rankOrder gives the pods of a ring with parallel groups the nodes of a plan in another order. Each domain takes pods that
// exchange most with each other, from the highest tier down, or the next ones of an order of the axes, whichever is cheapest. Then
// pods are exchanged while the plan gets cheaper.
type rankOrder struct {
	*ringPods
	nodes    []tree.NodeID // of each pod
	attached []int64
	price    []int64                   // of an edge between nodes that are in one domain of a tier and none below
	inside   map[tree.DomainID][]int32 // the pods of each rack
	work     int
	sign     int  // of the order of domains: those that hold most first (1), last (-1), or by name
	nearest  bool // domains take pods that exchange most with each other, not the next ones
}

// orderRanks returns the plan, or a cheaper one with as many members of each pod class on each node.
func (p *problem) orderRanks(plan []gang.Assignment) []gang.Assignment {
	if p.unit == 0 || p.ring == nil || p.ring.Plain() || p.ring.Near == nil {
		return plan
	}
	o := &rankOrder{ringPods: newRingPods(p)}
	was := o.read(plan)
	best := o.value(was)
	o.nodes, o.attached = slices.Clone(was), make([]int64, len(was))
	price := 2 * (p.weights[tree.IslandTier] + p.weights[tree.NodeTier])
	o.price = make([]int64, tree.NodeTier+1, len(p.weights)+1)
	for tier := tree.NodeTier + 1; tier <= len(p.weights); tier++ {
		o.price = append(o.price, price)
		if tier < len(p.weights) {
			price += 2 * p.weights[tier]
		}
	}
	var pods []int32
	for i := range o.pods {
		if o.pods[i].kind >= 0 {
			pods = append(pods, int32(i))
		}
	}
	found, first, least := was, slices.Clone(was), o.total()
	spread := func(pods []int32, sign int) {
		o.spread(pods, was, sign)
		if total := o.total(); total < least {
			least = total
			copy(first, o.nodes)
		}
	}
	o.work = permuteWork * p.effort
	o.permute(pods, func(order []int32) {
		for sign := -1; sign <= 1; sign++ {
			spread(order, sign)
		}
	})
	o.nearest = true
	for sign := -1; sign <= 1; sign++ {
		spread(slices.Clone(pods), sign)
		if len(pods) <= largeJob*p.effort {
			o.exchange(pods)
			if v := o.value(o.nodes); v.less(best, p.byBusy) {
				best, found = v, slices.Clone(o.nodes)
			}
		}
	}
	copy(o.nodes, first)
	o.exchange(pods)
	if o.value(o.nodes).less(best, p.byBusy) {
		found = o.nodes
	}
	return o.write(plan, found)
}

// total is what all edges cost, each counted from either end.
func (o *rankOrder) total() (bytes int64) {
	for pod := range o.pods {
		bytes += o.cost(int32(pod), o.nodes[pod])
	}
	return bytes
}

// permute calls each with the pods in the orders that the axes have when one or the other is the outermost, beginning with the order of
// ranks, until the work is used up.
func (o *rankOrder) permute(pods []int32, each func(order []int32)) {
	ranks, next := make([]int, len(o.pods)), 0 // the first rank of each pod
	for i := range o.pods {
		ranks[i] = next
		next += max(1, o.pods[i].gpus)
	}
	var axes []traffic.Axis // outermost first
	for _, a := range o.ring.Axes {
		if a.Size*a.Stride > o.ring.GPUs {
			axes = slices.Insert(axes, 0, a)
		}
	}
	compare := func(a, b int32) int {
		for _, axis := range axes {
			of, _ := axis.Position(ranks[a])
			with, _ := axis.Position(ranks[b])
			if of != with {
				return of - with
			}
		}
		return 0
	}
	var from func(i int)
	from = func(i int) {
		if i >= len(axes) && o.work > 0 {
			o.work -= len(pods)
			order := slices.Clone(pods)
			slices.SortStableFunc(order, compare)
			each(order)
		}
		for j := i; j < len(axes) && o.work > 0; j++ {
			axes[i], axes[j] = axes[j], axes[i]
			from(i + 1)
			axes[i], axes[j] = axes[j], axes[i]
		}
	}
	from(0)
}

// spread gives pods the nodes that the plan has for them.
func (o *rankOrder) spread(pods []int32, was []tree.NodeID, sign int) {
	o.sign = sign
	slots := make([]slot, 0, len(pods))
	for _, pod := range pods {
		slots = append(slots, slot{was[pod], o.pods[pod].kind})
	}
	slices.SortFunc(slots, func(a, b slot) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.kind, b.kind)) })
	o.below(len(o.p.t.Tiers()), slots, pods)
}

// slot is the capacity of a node for one pod of a pod class.
type slot struct {
	node tree.NodeID
	kind int
}

// below gives pods the slots of a domain of a tier, as many as there are.
func (o *rankOrder) below(tier int, slots []slot, pods []int32) {
	t := o.p.t
	if tier == tree.NodeTier {
		for _, pod := range pods {
			o.nodes[pod] = slots[0].node
		}
		return
	}
	var parts [][]slot
	for lo := 0; lo < len(slots); {
		child := t.Ancestor(slots[lo].node, tier-1)
		hi := lo + 1
		for hi < len(slots) && t.Holds(child, slots[hi].node) {
			hi++
		}
		parts = append(parts, slots[lo:hi])
		lo = hi
	}
	slices.SortStableFunc(parts, func(a, b []slot) int { return o.sign * cmp.Compare(len(b), len(a)) })
	for _, part := range parts {
		child := t.Ancestor(part[0].node, tier-1)
		left := map[int]int{}
		for _, s := range part {
			left[s.kind]++
		}
		var taken []int32
		may := func(pod int32) bool { return left[o.pods[pod].kind] > 0 }
		take := func(pod int32) {
			left[o.pods[pod].kind]--
			taken = append(taken, pod)
		}
		if o.nearest {
			o.attach(child, pods)
			pods = o.ring.Nearest(pods, len(part), o.attached, may, take)
			slices.Sort(taken)
		} else {
			pods = next(pods, may, take)
		}
		o.below(tier-1, part, taken)
	}
}

// attach computes the edges that pods have to those placed before in a domain.
func (o *rankOrder) attach(domain tree.DomainID, pods []int32) {
	clear(o.attached)
	for _, pod := range pods {
		for _, e := range o.ring.Near[pod] {
			if other := &o.pods[e.Pod]; other.node >= 0 && o.p.t.Holds(domain, other.node) {
				o.attached[pod] += e.Weight
			}
		}
	}
}

// next takes the next pods that may be taken, and returns the others.
func next(pods []int32, may func(pod int32) bool, take func(pod int32)) (others []int32) {
	for _, pod := range pods {
		if may(pod) {
			take(pod)
		} else {
			others = append(others, pod)
		}
	}
	return others
}

// cost of the edges of a pod, if it were on a node.
func (o *rankOrder) cost(pod int32, node tree.NodeID) (bytes int64) {
	for _, e := range o.ring.Near[pod] {
		if other := o.nodes[e.Pod]; other != node {
			bytes += e.Weight * o.price[o.p.t.CommonTier(node, other)]
		}
	}
	return bytes
}

// exchange pods while that makes the plan cheaper.
func (o *rankOrder) exchange(pods []int32) {
	o.work, o.inside = exchangeWork*o.p.effort, map[tree.DomainID][]int32{}
	for _, pod := range pods {
		o.inside[o.rack(pod)] = append(o.inside[o.rack(pod)], pod)
	}
	for improved := true; improved; {
		improved = false
		for _, pod := range pods {
			for o.work > 0 && o.exchangeOne(pod) {
				improved = true
			}
		}
	}
}

// rack is the domain just above a pod's node.
func (o *rankOrder) rack(pod int32) tree.DomainID { return o.p.t.Parent(tree.DomainID(o.nodes[pod])) }

// exchangeOne exchanges a pod with one that is in the rack of a pod which it has an edge to, if that is cheaper.
func (o *rankOrder) exchangeOne(pod int32) bool {
	from := o.nodes[pod]
	own := o.cost(pod, from)
	for _, e := range o.ring.Near[pod] {
		if o.nodes[e.Pod] == from {
			continue
		}
		there := o.inside[o.rack(e.Pod)]
		for i, other := range there {
			to := o.nodes[other]
			if to == from || o.pods[pod].kind != o.pods[other].kind {
				continue
			}
			o.work--
			gain := own - o.cost(pod, to)
			if gain <= 0 {
				continue // what the other pod gains is seen when it is its turn
			}
			gain += o.cost(other, to) - o.cost(other, from)
			for _, e := range o.ring.Near[pod] {
				if e.Pod == other { // the edge between the two costs what it did
					gain -= 2 * e.Weight * o.price[o.p.t.CommonTier(from, to)]
				}
			}
			if gain > 0 {
				here := o.inside[o.rack(pod)]
				here[slices.Index(here, pod)], there[i] = other, pod
				o.nodes[pod], o.nodes[other] = to, from
				return true
			}
		}
	}
	return false
}
