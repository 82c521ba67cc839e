// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// podClass is a set of members to place that are interchangeable: same role, same class of traffic.
type podClass struct {
	role    int
	class   int // column in rows; below 0 for silent members
	indexes []int
	count   int32
	gpus    int
	request []int64
	needs   []need // what is not 0 of the request
	penalty []int32
	shape   *tree.Shape
}

type need struct {
	resource int
	amount   int64
}

// problem is a demand made ready for the solver: a count of members of each pod class, to be put on nodes.
type problem struct {
	t          *tree.Topology
	d          *gang.Demand
	traffic    traffic.Model
	ring       *traffic.Ring // the traffic, if it is a ring
	classes    int
	unit       float64
	podClasses []podClass
	fixed      []fixedMember
	weights    []int64
	byBusy     bool
	effort     int
	noExact    bool
	stop       stopper

	limit          int // tier within one domain of which all members must be; 0 for none
	colocationTier int // tier whose domains must have a server if they hold workers to place; 0 for none
	// working are the workers placed before in domains of that tier.
	working map[tree.DomainID]int64
}

type fixedMember struct {
	node  tree.NodeID
	class int
}

// newProblem takes the given number of pending members of each role, lowest indexes first. The demand has been checked.
func newProblem(t *tree.Topology, d *gang.Demand, o Options, take []int) *problem {
	p := &problem{t: t, d: d, weights: t.Weights(), byBusy: o.Objective == BusiestFirst, effort: o.effort(), noExact: o.noExact, limit: d.HighestTier, stop: stopper{stop: o.Stop}}
	if d.Colocated() {
		p.colocationTier, p.working = d.ServerTier(), map[tree.DomainID]int64{}
	}
	if d.Pattern == gang.Collective {
		p.addRing(take)
	} else {
		p.addFlows(take)
	}
	for _, f := range p.fixed {
		if p.colocationTier > 0 && f.class > gang.ServerClass {
			p.working[p.t.Ancestor(f.node, p.colocationTier)]++
		}
	}
	p.unit = p.traffic.Unit()
	p.classes = p.traffic.Classes()
	if d.Colocation == gang.None {
		p.weights, p.unit = make([]int64, len(t.Weights())), 0
	}
	for i := range p.podClasses {
		k := &p.podClasses[i]
		role := &d.Roles[k.role]
		k.count = int32(len(k.indexes))
		k.request, k.penalty, k.gpus = role.Request, role.Penalty, int(t.GPUs(role.Request))
		if same := slices.IndexFunc(p.podClasses[:i], func(other podClass) bool { return other.role == k.role }); same >= 0 {
			k.shape = p.podClasses[same].shape
		} else {
			k.shape = t.ShapeOn(role.Request, role.Eligible)
		}
		for r, amount := range role.Request {
			if amount > 0 {
				k.needs = append(k.needs, need{r, amount})
			}
		}
	}
	return p
}

func (p *problem) addFlows(take []int) {
	total := make([]int, p.d.Classes())
	for r := range p.d.Roles {
		role, class := &p.d.Roles[r], p.d.Class(r)
		for _, member := range role.Placed {
			p.fixed = append(p.fixed, fixedMember{member.Node, class})
		}
		if take[r] > 0 {
			p.podClasses = append(p.podClasses, podClass{role: r, class: class, indexes: role.Pending[:take[r]]})
		}
		if class >= 0 {
			total[class] += len(role.Placed) + take[r]
		}
	}
	p.traffic = traffic.NewFlows(p.d, total)
}

// addRing makes a pod class of the pending members of each role that is not on the ring, and of each role in each gap.
func (p *problem) addRing(take []int) {
	p.ring = traffic.NewRing(p.t, p.d, take)
	p.traffic = p.ring
	var onRing []fixedMember
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		for _, member := range role.Placed {
			if role.CommRole == gang.Worker {
				onRing = append(onRing, fixedMember{member.Node, -1})
			} else {
				p.fixed = append(p.fixed, fixedMember{member.Node, -1})
			}
		}
		if role.CommRole != gang.Worker && take[r] > 0 {
			p.podClasses = append(p.podClasses, podClass{role: r, class: -1, indexes: role.Pending[:take[r]]})
		}
	}
	p.fixed = append(p.fixed, onRing...)
	for g := range p.ring.Gaps {
		for i, s := range p.ring.Gaps[g].Members {
			if i == 0 || s.Role != p.ring.Gaps[g].Members[i-1].Role {
				p.podClasses = append(p.podClasses, podClass{role: s.Role, class: g})
			}
			k := &p.podClasses[len(p.podClasses)-1]
			k.indexes = append(k.indexes, s.Index)
		}
	}
}

// value is what a plan, or a part of one, costs. Bytes, penalty and fragmentation of parts add up; of busiest uplinks the larger one
// counts.
type value struct {
	workersWithoutServer int64   // workers that lack a required server; no plan has any
	bytes                int64   // weighted, in units of traffic and of WeightUnit
	busy                 float64 // seconds of the busiest uplink
	penalty              int64
	fragmentation        int64
}

// impossible is more bytes than any plan has.
const impossible = math.MaxInt64

func (v value) plus(w value) value {
	return value{v.workersWithoutServer + w.workersWithoutServer, v.bytes + w.bytes, max(v.busy, w.busy), v.penalty + w.penalty, v.fragmentation + w.fragmentation}
}

// less orders plans: traffic by the objective, then preferences of the pods, then fragmentation.
func (v value) less(w value, byBusy bool) bool {
	if v.workersWithoutServer != w.workersWithoutServer {
		return v.workersWithoutServer < w.workersWithoutServer
	}
	if byBusy && v.busy != w.busy {
		return v.busy < w.busy
	}
	switch {
	case v.bytes != w.bytes:
		return v.bytes < w.bytes
	case v.busy != w.busy:
		return v.busy < w.busy
	case v.penalty != w.penalty:
		return v.penalty < w.penalty
	}
	return v.fragmentation < w.fragmentation
}

// uplink adds what the border of a domain costs that holds the given number of members of each class.
func (p *problem) uplink(d tree.DomainID, tier int, row []int32) value {
	if p.unit == 0 || tier == len(p.t.Tiers()) {
		return value{}
	}
	load := p.traffic.Load(d, row)
	if load == 0 {
		return value{}
	}
	return value{bytes: p.weights[tier] * load, busy: float64(load) * p.unit / p.t.Bandwidth(d)}
}

// leaf is what the border of a node and the islands in it cost.
func (p *problem) leaf(node tree.NodeID, row []int32) value {
	v := p.uplink(tree.DomainID(node), tree.NodeTier, row)
	if p.unit == 0 {
		return v
	}
	if sum, most := p.traffic.Island(node, row); sum > 0 {
		v.bytes += p.weights[tree.IslandTier] * sum
		v.busy = max(v.busy, float64(most)*p.unit/p.t.Tiers()[tree.IslandTier].EffectiveBandwidth())
	}
	return v
}

// Weights of what a plan does to later jobs, largest first. They are for pods whose GPUs are in more islands than they need, islands
// that were whole, free GPUs left on the nodes that are used (tightest node), free GPUs near them (tightest domain).
const (
	straddleWeight     = 1 << 44
	brokenIslandWeight = 1 << 36
	leftoverWeight     = 1 << 20
	nearbyMax          = leftoverWeight - 1
)

// fragmentation is what putting the given number of pods of each class on a node takes from later jobs; 0 for none.
func (p *problem) fragmentation(node tree.NodeID, count []int32) int64 {
	pods, gpus := int32(0), int64(0)
	for k, n := range count {
		pods += n
		gpus += int64(n) * int64(p.podClasses[k].gpus)
	}
	if pods == 0 {
		return 0
	}
	t := p.t
	left := t.FreeGPUs(tree.DomainID(node)) - gpus
	nearby := t.FreeGPUs(t.Parent(tree.DomainID(node)))
	if len(t.Accelerators()) == 0 {
		left, nearby = p.leftover(node, count), p.podClasses[0].shape.Sum(t.Parent(tree.DomainID(node)))
	}
	fragmentation := max(0, left)*leftoverWeight + min(nearby, nearbyMax)
	if islands := t.FreeIslands(node); len(islands) > 0 && gpus > 0 {
		fragmentation += p.islandFragmentation(node, islands, count)
	}
	return fragmentation
}

// leftover is how many pods of the first pod class still fit.
func (p *problem) leftover(node tree.NodeID, count []int32) int64 {
	most := int64(tree.MaxFit)
	for r, free := range p.t.Free(tree.DomainID(node)) {
		for k, n := range count {
			free -= int64(n) * p.podClasses[k].request[r]
		}
		if amount := p.podClasses[0].request[r]; amount > 0 {
			most = min(most, free/amount)
		}
	}
	return most
}

func (p *problem) islandFragmentation(node tree.NodeID, islands []int16, count []int32) (fragmentation int64) {
	var buffer [tree.MaxIslands]int16
	var picked [256]uint8
	free := buffer[:len(islands)]
	copy(free, islands)
	sizes := p.t.IslandSizes(node)
	for k, n := range count {
		gpus := p.podClasses[k].gpus
		if gpus == 0 {
			continue
		}
		needed := tree.IslandsNeeded(sizes, gpus)
		for range n {
			of := tree.AssignGPUs(free, gpus, picked[:0])
			parts := 0
			for i := range of {
				if i == 0 || of[i] != of[i-1] {
					parts++
				}
			}
			fragmentation += straddleWeight * int64(max(0, parts-needed))
		}
	}
	for i := range free {
		if islands[i] == sizes[i] && free[i] > 0 && free[i] < sizes[i] {
			fragmentation += brokenIslandWeight
		}
	}
	return fragmentation
}
