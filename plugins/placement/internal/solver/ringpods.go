// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// ringPods is a Collective rank by rank, where counts per domain do not give the whole cost: parallel groups, and nodes
// with several islands. It keeps the ends of runs (ring.go) of every domain and island while ranks get their nodes one
// after the other, and can take the last one back.
type ringPods struct {
	p       *problem
	ring    *traffic.Ring
	pods    []ringPod
	ranks   []spot  // of the ranks so far
	ends    []int64 // of domains, then islands, then members placed before on nodes with several islands
	islands []int16 // free GPUs of all islands
	cost    value   // of all ends so far
	closing int64   // weighted bytes that groups cost at least which have ranks to come: back to where each began
	undo    []touched
	whole   bool // all pods are put at once: ends are not undone one by one
}

type ringPod struct {
	role, index, gpus int
	kind              int
	node              tree.NodeID // below 0 if it is to be placed
}

// spot of a rank: its node, and the number of its island's ends; below 0 where the node is one island.
type spot struct {
	node   tree.NodeID
	island int
}

// touched is an end before it was counted up.
type touched struct {
	number int
	ends   int64
}

// level is a state to go back to.
type level struct {
	undo, ranks int
	cost        value
	closing     int64
	node        tree.NodeID
	picked      []uint8
}

func newRingPods(p *problem) *ringPods {
	t := p.t
	r := &ringPods{p: p, ring: p.ring, islands: append([]int16(nil), t.AllIslands()...)}
	kindOf := map[gang.Member]int{}
	for k := range p.podClasses {
		for _, index := range p.podClasses[k].indexes {
			kindOf[gang.Member{Role: p.podClasses[k].role, Index: index}] = k
		}
	}
	for _, member := range p.ring.Members {
		pod := ringPod{role: member.Role, index: member.Index, gpus: int(t.GPUs(p.d.Roles[member.Role].Request)), kind: -1, node: member.Node}
		if !member.Fixed {
			pod.kind = kindOf[gang.Member{Role: member.Role, Index: member.Index}]
		}
		r.pods = append(r.pods, pod)
	}
	r.ends = make([]int64, t.DomainCount()+len(t.AllIslands())+len(r.pods))
	return r
}

// put gives the next pod its node; back undoes it.
func (r *ringPods) put(position int, node tree.NodeID) level {
	pod := &r.pods[position]
	l := level{undo: len(r.undo), ranks: len(r.ranks), cost: r.cost, closing: r.closing, node: node}
	t := r.p.t
	lo, hi := t.IslandRange(node)
	if lo < hi && pod.gpus > 0 && pod.node < 0 {
		l.picked = tree.AssignGPUs(r.islands[lo:hi], pod.gpus, nil)
	}
	for g := range max(1, pod.gpus) {
		at := spot{node, -1}
		switch {
		case g < len(l.picked):
			at.island = t.DomainCount() + lo + int(l.picked[g])
		case lo < hi && pod.gpus > 0:
			at.island = t.DomainCount() + len(t.AllIslands()) + position
		case lo < hi: // a pod without GPUs is on the first island, as walkRing has it
			at.island = t.DomainCount() + lo
		}
		r.rank(at)
	}
	return l
}

func (r *ringPods) back(l level) {
	for len(r.undo) > l.undo {
		last := r.undo[len(r.undo)-1]
		r.undo = r.undo[:len(r.undo)-1]
		r.ends[last.number] = last.ends
	}
	r.ranks, r.cost, r.closing = r.ranks[:l.ranks], l.cost, l.closing
	lo, _ := r.p.t.IslandRange(l.node)
	for _, island := range l.picked {
		r.islands[lo+int(island)]++
	}
}

// rank adds one rank and the edges that it closes.
func (r *ringPods) rank(at spot) {
	n := len(r.ranks)
	r.ranks = append(r.ranks, at)
	for _, a := range r.ring.Axes {
		position, first := a.Position(n)
		if position > 0 {
			before := r.ranks[n-a.Stride]
			r.edge(before, at, a.Weight)
			r.closing -= a.Weight * r.apart(before, r.ranks[first])
		}
		if a.Next(n, r.ring.Ranks) == first {
			r.edge(at, r.ranks[first], a.Weight)
		} else {
			r.closing += a.Weight * r.apart(at, r.ranks[first])
		}
	}
}

// apart is what an edge costs at least between two ranks.
func (r *ringPods) apart(a, b spot) (bytes int64) {
	t, tier := r.p.t, tree.NodeTier
	for u, v := tree.DomainID(a.node), tree.DomainID(b.node); u != v; u, v, tier = t.Parent(u), t.Parent(v), tier+1 {
		bytes += 2 * t.Weights()[tier]
	}
	return bytes
}

// edge counts the two ends of a run between neighbors in different domains or islands.
func (r *ringPods) edge(a, b spot, weight int64) {
	if a == b {
		return
	}
	t := r.p.t
	for _, at := range [2]spot{a, b} {
		if at.island >= 0 {
			r.end(at.island, weight, t.Weights()[tree.IslandTier], t.Tiers()[tree.IslandTier].EffectiveBandwidth())
		}
	}
	tier := tree.NodeTier
	for u, v := tree.DomainID(a.node), tree.DomainID(b.node); u != v; u, v, tier = t.Parent(u), t.Parent(v), tier+1 {
		r.border(u, a, tier, weight)
		r.border(v, b, tier, weight)
	}
}

func (r *ringPods) border(d tree.DomainID, at spot, tier int, weight int64) {
	t := r.p.t
	price, bandwidth := t.Weights()[tier], t.Bandwidth(d)
	if tier == tree.NodeTier && at.island < 0 {
		price += t.Weights()[tree.IslandTier]
		bandwidth = min(bandwidth, t.Tiers()[tree.IslandTier].EffectiveBandwidth())
	}
	r.end(int(d), weight, price, bandwidth)
}

func (r *ringPods) end(number int, weight, price int64, bandwidth float64) {
	if !r.whole {
		r.undo = append(r.undo, touched{number, r.ends[number]})
	}
	r.ends[number] += weight
	r.cost.bytes += weight * price
	r.cost.busy = max(r.cost.busy, float64(r.ends[number])*r.p.unit/bandwidth)
}

// value of all pods on the given nodes.
func (r *ringPods) value(nodes []tree.NodeID) value {
	var picks []level
	r.whole = true
	for i, node := range nodes {
		picks = append(picks, r.put(i, node))
	}
	v := r.cost
	for i := len(picks) - 1; i >= 0; i-- {
		r.back(picks[i])
	}
	clear(r.ends)
	r.whole = false
	for i, node := range nodes {
		if kind := r.pods[i].kind; kind >= 0 && r.p.podClasses[kind].penalty != nil {
			v.penalty += int64(r.p.podClasses[kind].penalty[node])
		}
	}
	return v
}
