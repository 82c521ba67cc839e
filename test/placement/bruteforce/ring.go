// SPDX-License-Identifier: Apache-2.0

package bruteforce

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/traffic"
)

// seat is one pod of the ring, in the order of ranks.
type seat struct {
	role, index int
	gpus        int
	fixed       int // its node, or -1
}

// quietPods are pods of a role that exchanges nothing.
type quietPods struct{ role, node, pods int }

// ring enumerates nodes pod by pod in the order of ranks.
type ring struct {
	*search
	seats []seat
	pods  []int // pending pods from each position on

	lo, hi int
	free   [][]int64
	least  []int64 // of the requests of all pods of the ring
	near   [][]int // nodes from near to far, by node
	chosen []int   // node by position
	walk   *traffic.Ring
	quiet  []quietPods
}

func newRing(s *search) *ring {
	r := &ring{search: s, walk: traffic.NewRing(s.tree, s.demand)}
	for role := range s.demand.Roles {
		d := &s.demand.Roles[role]
		if d.Traffic != placement.Worker {
			continue
		}
		gpus := traffic.GPUs(d.Request)
		var seats []seat
		for _, index := range d.Pending {
			seats = append(seats, seat{role: role, index: index, gpus: gpus, fixed: -1})
		}
		for _, member := range d.Placed {
			seats = append(seats, seat{role: role, index: member.Index, gpus: gpus, fixed: int(member.Node)})
		}
		slices.SortFunc(seats, func(a, b seat) int { return cmp.Compare(a.index, b.index) })
		r.seats = append(r.seats, seats...)
		if r.least == nil {
			r.least = slices.Clone(d.Request)
		}
		for c := range r.least {
			r.least[c] = min(r.least[c], d.Request[c])
		}
	}
	r.chosen = make([]int, len(r.seats))
	r.pods = make([]int, len(r.seats)+1)
	for i := len(r.seats) - 1; i >= 0; i-- {
		r.pods[i] = r.pods[i+1]
		if r.seats[i].fixed < 0 {
			r.pods[i]++
		}
	}
	for n := range s.tree.Nodes {
		order := make([]int, s.tree.Nodes)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.tree.Apart(n, a), s.tree.Apart(n, b)) })
		r.near = append(r.near, order)
	}
	return r
}

// run finds the best plan; it returns the bytes of one unit of cost: of one end of a run of ranks.
func (r *ring) run() (unit float64) {
	for _, nodes := range r.allowed() {
		r.lo, r.hi = nodes[0], nodes[1]
		r.free = make([][]int64, r.tree.Nodes)
		for n := range r.free {
			r.free[n] = slices.Clone(r.tree.Free[n])
		}
		r.silent(0)
	}
	return r.walk.Unit(r.demand)
}

// silent places the pods of roles that exchange nothing, from one role on, in all ways that matter, then the ring.
func (r *ring) silent(role int) {
	for role < len(r.demand.Roles) && r.demand.Roles[role].Traffic == placement.Worker {
		role++
	}
	if role == len(r.demand.Roles) {
		if len(r.seats) == 0 {
			r.done(0, 0)
			return
		}
		r.pod(0)
		return
	}
	r.silentOn(role, r.lo, len(r.demand.Roles[role].Pending))
}

func (r *ring) silentOn(role, node, left int) {
	if left == 0 {
		r.silent(role + 1)
		return
	}
	if node == r.hi {
		return
	}
	request := r.demand.Roles[role].Request
	most := 0
	if r.eligible(role, node) {
		most = traffic.Fits(r.free[node], request, left)
	}
	for k := most; k >= 0; k-- {
		traffic.Take(r.free[node], request, k)
		r.quiet = append(r.quiet, quietPods{role, node, k})
		r.silentOn(role, node+1, left-k)
		r.quiet = r.quiet[:len(r.quiet)-1]
		traffic.Take(r.free[node], request, -k)
	}
}

// pod tries all nodes for the pod at a position and all after it.
func (r *ring) pod(position int) {
	r.visited++
	if r.spent() {
		return
	}
	if position == len(r.seats) {
		mark := r.walk.Close()
		if !r.hopeless(r.walk.Priced, r.walk.Busiest) {
			r.done(r.walk.Priced, r.walk.Busiest)
		}
		r.walk.Undo(mark)
		return
	}
	s := r.seats[position]
	if s.fixed >= 0 {
		r.step(position, s.fixed)
		return
	}
	from := r.lo
	if position > 0 {
		from = r.chosen[position-1]
	}
	request := r.demand.Roles[s.role].Request
	for _, n := range r.near[from] {
		if n < r.lo || n >= r.hi || !r.eligible(s.role, n) || traffic.Fits(r.free[n], request, 1) == 0 {
			continue
		}
		traffic.Take(r.free[n], request, 1)
		r.step(position, n)
		traffic.Take(r.free[n], request, -1)
	}
}

func (r *ring) step(position, node int) {
	s := r.seats[position]
	r.chosen[position] = node
	mark := r.walk.Pod(node, s.gpus, s.fixed >= 0)
	if !r.hopeless(r.walk.Priced+r.ahead(position), r.walk.Busiest) {
		r.pod(position + 1)
	}
	r.walk.Undo(mark)
}

// ahead is the least that the edges of the ring after a position cost.
//
// Within each tier, the pods still to come need some number m of domains besides the last one and the first one, and the
// ring enters each of them over one more edge and comes back to the first over another.
func (r *ring) ahead(position int) float64 {
	last, first := r.chosen[position], r.chosen[0]
	sum := 0.0
	for tier := placement.NodeTier; tier < r.tree.Tiers; tier++ {
		a, b := r.tree.Up[last][tier], r.tree.Up[first][tier]
		crossings := r.others(tier, a, b, r.pods[position+1])
		if a != b || crossings > 0 {
			crossings++
		}
		price := r.tree.Price[tier]
		if tier == placement.NodeTier {
			price += r.tree.Price[placement.IslandTier] // an edge between nodes is one between islands too
		}
		sum += 2 * price * float64(crossings)
	}
	return sum
}

// others is the least number of domains of a tier, besides a and b, that so many pods need.
func (r *ring) others(tier, a, b, pods int) int {
	var rooms [8]int // instances.MaxNodes
	count, domain := 0, -1
	for n := r.lo; n < r.hi; n++ {
		room := traffic.Fits(r.free[n], r.least, pods)
		switch d := r.tree.Up[n][tier]; d {
		case a, b:
			pods -= room
		case domain:
			rooms[count-1] += room
		default:
			domain = d
			rooms[count] = room
			count++
		}
	}
	others := 0
	for pods > 0 {
		most := 0
		for i := range count {
			if rooms[i] > rooms[most] {
				most = i
			}
		}
		if rooms[most] == 0 {
			return others // these pods have no room at all; the search will find out
		}
		pods -= rooms[most]
		rooms[most] = 0
		others++
	}
	return others
}

func (r *ring) done(priced, busiest float64) {
	r.found, r.best = true, r.order(priced, busiest)
	r.plan = r.plan[:0]
	for role := range r.demand.Roles {
		for i, s := range r.seats {
			if s.role == role && s.fixed < 0 {
				r.plan = append(r.plan, placement.Assignment{Role: role, Index: s.index, Node: placement.NodeID(r.chosen[i])})
			}
		}
		next := 0
		for _, q := range r.quiet {
			for range q.pods {
				if q.role == role {
					r.plan = append(r.plan, placement.Assignment{Role: role, Index: r.demand.Roles[role].Pending[next], Node: placement.NodeID(q.node)})
					next++
				}
			}
		}
	}
}
