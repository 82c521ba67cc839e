// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"container/heap"
	"math"
	"slices"
)

// refillWork bounds how many members get room, over all domains that are looked at.
const refillWork = 1 << 17

// refill makes room for a gang in one domain, at what is nearly the least.
type refill struct {
	gang   *gang
	domain DomainID
	steps  []refillStep
	short  lack // what all steps add
	given  map[NodeID][]int64
}

// refillStep is room for one more member: amounts that a node must have more.
type refillStep struct {
	node    NodeID
	amounts []int64
}

func (r *refill) compare(b *refill) int {
	return cmp.Or(r.short.compare(b.short), cmp.Compare(r.domain, b.domain))
}

// refillOf a domain: the best over all orders in which the roles may be packed before; nil if there is none that is better
// than another refill, where that is not nil.
func (g *gang) refillOf(v DomainID, other *refill, work *int) *refill {
	best := other
	for _, order := range ordersOf(g.roles) {
		r := &refill{gang: g, domain: v, given: map[NodeID][]int64{}}
		if !r.run(g.packBy(v, order), best, work) {
			continue
		}
		if len(r.steps) == 0 {
			return nil // room is not what is missing
		}
		best = r
	}
	if best == other {
		return nil
	}
	return best
}

// run makes room for all that are missing; false if it cannot, or if it is no better than another refill.
func (r *refill) run(pack *gangFit, other *refill, work *int) bool {
	for _, role := range r.gang.roles {
		missing := r.gang.need[role] - pack.together[role]
		if missing == 0 {
			continue
		}
		hosts := r.hostsOf(pack, role)
		for ; missing > 0; missing-- {
			if *work--; hosts.Len() == 0 || *work < 0 {
				return false
			}
			if !r.step(pack, hosts) {
				return false
			}
			if other != nil && r.compare(other) >= 0 {
				return false
			}
		}
	}
	return true
}

// step gives the best host what it is short of for one member.
func (r *refill) step(pack *gangFit, hosts *hosts) bool {
	at := &hosts.of[0]
	t, request := r.gang.t, hosts.request
	left := pack.of(at.node)
	amounts := make([]int64, len(request))
	for i, amount := range request {
		if amount > 0 {
			amounts[i] = max(0, amount-max(0, left[i]))
			left[i] = max(0, left[i]) + amounts[i] - amount
		}
	}
	given := r.given[at.node]
	if given == nil {
		given = make([]int64, len(amounts))
		r.given[at.node] = given
	}
	for i, amount := range amounts {
		given[i] += amount
		if given[i]+max(0, t.Free(DomainID(at.node))[i]) > maxAmount {
			return false
		}
	}
	if len(t.gpus.of(at.node)) > 0 && t.FreeGPUs(DomainID(at.node))+t.gpusOf(given) > math.MaxInt16 {
		return false
	}
	r.steps = append(r.steps, refillStep{at.node, amounts})
	r.short.gpus += at.short.gpus
	r.short.other += at.short.other
	at.given++
	at.short = r.gang.shortOf(left, request)
	heap.Fix(hosts, 0)
	return true
}

// shortOf is what a node lacks for one member.
func (g *gang) shortOf(left, request []int64) (short lack) {
	for r, amount := range request {
		if missing := amount - max(0, left[r]); amount > 0 && missing > 0 {
			if slices.Contains(g.t.accelerators, r) {
				short.gpus += missing
			} else {
				short.other += float64(missing) / float64(g.amounts[r])
			}
		}
	}
	return short
}

// hosts are the nodes that a role may use, as a heap: first the node that lacks least for one member, then the one that
// was given least often, then the one with most free GPUs, then by name.
type hosts struct {
	request []int64
	of      []host
}

type host struct {
	node  NodeID
	short lack
	given int
	gpus  int64
}

func (r *refill) hostsOf(pack *gangFit, role int) *hosts {
	h := &hosts{request: r.gang.d.Roles[role].Request}
	for n := pack.lo; n < pack.hi; n++ {
		if pack.eligible(role, n) {
			h.of = append(h.of, host{node: n, short: r.gang.shortOf(pack.of(n), h.request), gpus: r.gang.t.FreeGPUs(DomainID(n))})
		}
	}
	heap.Init(h)
	return h
}

// Len, Less, Swap, Push and Pop are a heap's.
func (h *hosts) Len() int { return len(h.of) }

// Less puts the better host first.
func (h *hosts) Less(i, j int) bool {
	a, b := &h.of[i], &h.of[j]
	return cmp.Or(a.short.compare(b.short), cmp.Compare(a.given, b.given), cmp.Compare(b.gpus, a.gpus), cmp.Compare(a.node, b.node)) < 0
}

// Swap two hosts.
func (h *hosts) Swap(i, j int) { h.of[i], h.of[j] = h.of[j], h.of[i] }

// Push is not used.
func (h *hosts) Push(any) {}

// Pop is not used.
func (h *hosts) Pop() any { return nil }

// within says whether no node would have more free than is given.
func (r *refill) within(most []int64) bool {
	for node, given := range r.given {
		for i, amount := range given {
			if amount > 0 && max(0, r.gang.t.Free(DomainID(node))[i])+amount > most[i] {
				return false
			}
		}
	}
	return true
}

// relaxation of the first steps.
func (r *refill) relaxation(steps int) Relaxation {
	t := r.gang.t
	change := Relaxation{
		Change: MoreFree, Domain: r.domain, Tier: t.TierOf(r.domain), DomainName: t.DomainName(r.domain),
		short: t.shortName(r.domain), More: make([]int64, len(t.resources)),
	}
	for _, step := range r.steps[:steps] {
		at, found := slices.BinarySearchFunc(change.Grants, step.node, func(g Grant, n NodeID) int { return cmp.Compare(g.Node, n) })
		if !found {
			change.Grants = slices.Insert(change.Grants, at, Grant{Node: step.node, Name: t.NodeName(step.node), Amounts: make([]int64, len(t.resources))})
		}
		for i, amount := range step.amounts {
			change.Grants[at].Amounts[i] += amount
			change.More[i] += amount
		}
	}
	return change
}
