// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"cmp"
	"container/heap"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// moreDomains is how many domains are tried, those that need least.
const moreDomains = 3

// more that is free in one domain: the domain of the tier that decides that needs least, ties by name. There, each member
// that has no room gets it where least is short, one after the other; the least number of these steps that works is taken.
// Where workers must have a server near, the gang may also come together in one domain of that tier, if no node would
// then have more free than any node has now.
func (x *relaxing) more() []Relaxation {
	if x.apart > 1 {
		return nil
	}
	lo, hi := x.domains(x.decisive())
	if found := x.moreIn(lo, hi, func(*refill) bool { return true }); found != nil {
		return found
	}
	if near := x.d.ServerTier(); x.d.Colocated() && near < x.decisive() {
		lo, hi = x.domains(near)
		largest := x.largest()
		return x.moreIn(lo, hi, func(r *refill) bool { return r.within(largest) })
	}
	return nil
}

// moreIn tries the best of a range of domains.
func (x *relaxing) moreIn(lo, hi tree.DomainID, allowed func(*refill) bool) []Relaxation {
	for _, refill := range x.refills(lo, hi, allowed) {
		var best Relaxation
		if smallest(len(refill.steps), len(refill.steps), func(n int) bool {
			r := refill.relaxation(n)
			works := x.works(&r)
			if works {
				best = r
			}
			return works
		}) > 0 {
			return []Relaxation{best}
		}
	}
	return nil
}

// refills of the domains that need least, best first. A domain is left out once it needs more than the ones found.
func (x *relaxing) refills(lo, hi tree.DomainID, allowed func(*refill) bool) (best []*refill) {
	type candidate struct {
		domain tree.DomainID
		short  lack
	}
	all := make([]candidate, 0, hi-lo)
	for v := lo; v < hi; v++ {
		all = append(all, candidate{v, x.lackOf(v)})
	}
	slices.SortFunc(all, func(a, b candidate) int { return cmp.Or(a.short.compare(b.short), cmp.Compare(a.domain, b.domain)) })
	for work := refillWork; len(all) > 0 && work > 0; all = all[1:] {
		var worst *refill
		if len(best) == moreDomains {
			if worst = best[moreDomains-1]; all[0].short.compare(worst.short) > 0 {
				break
			}
		}
		x.stop.check()
		r := x.refillOf(all[0].domain, worst, &work)
		if r == nil || !allowed(r) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, (*refill).compare)
		best = slices.Insert(best, at, r)
		best = best[:min(len(best), moreDomains)]
	}
	return best
}

// largest amount of each resource that is free on any node.
func (x *relaxing) largest() []int64 {
	most := make([]int64, len(x.t.Resources()))
	for n := range x.t.Nodes() {
		for r, free := range x.t.Free(tree.DomainID(n)) {
			most[r] = max(most[r], free)
		}
	}
	return most
}

// refillWork bounds how many members get room, over all domains that are looked at.
const refillWork = 1 << 17

// refill makes room for a gang in one domain, at what is nearly the least.
type refill struct {
	gang   *pendingGang
	domain tree.DomainID
	steps  []refillStep
	short  lack // what all steps add
	given  map[tree.NodeID][]int64
}

// refillStep is room for one more member: amounts that a node must have more.
type refillStep struct {
	node    tree.NodeID
	amounts []int64
}

func (r *refill) compare(b *refill) int {
	return cmp.Or(r.short.compare(b.short), cmp.Compare(r.domain, b.domain))
}

// refillOf a domain: the best over all orders in which the roles may be packed before; nil if there is none that is better
// than another refill, where that is not nil.
func (g *pendingGang) refillOf(v tree.DomainID, other *refill, work *int) *refill {
	best := other
	for _, order := range ordersOf(g.roles) {
		r := &refill{gang: g, domain: v, given: map[tree.NodeID][]int64{}}
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
		if given[i]+max(0, t.Free(tree.DomainID(at.node))[i]) > tree.MaxAmount {
			return false
		}
	}
	if len(t.FreeIslands(at.node)) > 0 && t.FreeGPUs(tree.DomainID(at.node))+t.GPUs(given) > math.MaxInt16 {
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
func (g *pendingGang) shortOf(left, request []int64) (short lack) {
	for r, amount := range request {
		if missing := amount - max(0, left[r]); amount > 0 && missing > 0 {
			if slices.Contains(g.t.Accelerators(), r) {
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
	node  tree.NodeID
	short lack
	given int
	gpus  int64
}

func (r *refill) hostsOf(pack *gangFit, role int) *hosts {
	h := &hosts{request: r.gang.d.Roles[role].Request}
	for n := pack.lo; n < pack.hi; n++ {
		if pack.eligible(role, n) {
			h.of = append(h.of, host{node: n, short: r.gang.shortOf(pack.of(n), h.request), gpus: r.gang.t.FreeGPUs(tree.DomainID(n))})
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
			if amount > 0 && max(0, r.gang.t.Free(tree.DomainID(node))[i])+amount > most[i] {
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
		short: t.ShortName(r.domain), More: make([]int64, len(t.Resources())),
	}
	for _, step := range r.steps[:steps] {
		at, found := slices.BinarySearchFunc(change.Grants, step.node, func(g Grant, n tree.NodeID) int { return cmp.Compare(g.Node, n) })
		if !found {
			change.Grants = slices.Insert(change.Grants, at, Grant{Node: step.node, Name: t.NodeName(step.node), Amounts: make([]int64, len(t.Resources()))})
		}
		for i, amount := range step.amounts {
			change.Grants[at].Amounts[i] += amount
			change.More[i] += amount
		}
	}
	return change
}
