// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// needsRanks reports whether counts per domain leave something of the cost open: parallel groups that pods share, several
// islands in a node, or several roles on one ring.
func (p *problem) needsRanks() bool {
	ring := p.ring
	if ring == nil || p.unit == 0 || len(ring.Gaps) == 0 {
		return false
	}
	if !ring.Plain() {
		return true
	}
	roles, members := 0, 0
	islands := false
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		if role.CommRole != gang.Worker || len(role.Pending)+len(role.Placed) == 0 {
			continue
		}
		roles++
		members += len(role.Pending) + len(role.Placed)
		gpus := int(p.t.GPUs(role.Request))
		islands = islands || len(p.t.AllIslands()) > 0 && gpus > 0
	}
	// Islands differ by where the ring begins: little, for a large job.
	return roles > 1 || islands && members <= largeJob
}

// ringSearch is a depth-first search, rank by rank, for a plan that is cheaper than the best one known. What the ring has
// cost so far, and the return to its first rank, bound what a branch can still come to.
type ringSearch struct {
	*ringPods
	nodes   []tree.NodeID
	free    [][]int64     // what is left on each of nodes
	holds   []int         // how many pods each of nodes was given
	at      []tree.NodeID // of the pods so far
	best    value
	found   []tree.NodeID
	steps   int
	fixedOn map[tree.NodeID]bool
}

// searchRing improves a plan, whose members that are not on the ring stay where they are. whole reports whether no
// cheaper plan exists.
func (p *problem) searchRing(nodes []tree.NodeID, plan []gang.Assignment, limit int) (better []gang.Assignment, whole bool) {
	s := &ringSearch{ringPods: newRingPods(p), nodes: nodes, steps: limit, fixedOn: map[tree.NodeID]bool{}}
	if len(plan) > s.pending() {
		s.nodes = p.within(nodes, plan[0].Node)
	}
	was := s.read(plan)
	s.best = s.value(was)
	s.take(plan, func(a gang.Assignment) bool { return p.d.Roles[a.Role].CommRole != gang.Worker })
	s.holds = make([]int, len(s.nodes))
	for _, f := range p.fixed {
		s.fixedOn[f.node] = true
	}
	s.next(value{})
	whole = s.steps > 0 && len(plan) == s.pending()
	if s.found == nil {
		return plan, whole
	}
	return s.write(plan, s.found), whole
}

// pending is how many pods of the ring are to be placed.
func (r *ringPods) pending() (n int) {
	for i := range r.pods {
		if r.pods[i].kind >= 0 {
			n++
		}
	}
	return n
}

// read is the node of each pod on the ring.
func (r *ringPods) read(plan []gang.Assignment) []tree.NodeID {
	nodes := make([]tree.NodeID, len(r.pods))
	at := map[gang.Member]tree.NodeID{}
	for _, a := range plan {
		at[gang.Member{Role: a.Role, Index: a.Index}] = a.Node
	}
	for i, pod := range r.pods {
		if nodes[i] = pod.node; pod.node < 0 {
			nodes[i] = at[gang.Member{Role: pod.role, Index: pod.index}]
		}
	}
	return nodes
}

// write puts the ring's pods on other nodes.
func (r *ringPods) write(plan []gang.Assignment, nodes []tree.NodeID) []gang.Assignment {
	at := map[gang.Member]tree.NodeID{}
	for i, pod := range r.pods {
		at[gang.Member{Role: pod.role, Index: pod.index}] = nodes[i]
	}
	plan = slices.Clone(plan)
	for i := range plan {
		if node, ok := at[gang.Member{Role: plan[i].Role, Index: plan[i].Index}]; ok {
			plan[i].Node = node
		}
	}
	return plan
}

func (s *ringSearch) next(penalty value) {
	position := len(s.at)
	if position == len(s.pods) {
		v := s.cost
		v.penalty = penalty.penalty
		if v.less(s.best, s.p.byBusy) {
			s.best, s.found = v, slices.Clone(s.at)
		}
		return
	}
	pod := &s.pods[position]
	if pod.node >= 0 {
		s.visit(position, pod.node, penalty)
		return
	}
	for _, i := range s.order(position) {
		kind := &s.p.podClasses[pod.kind]
		own := penalty
		if kind.penalty != nil {
			own.penalty += int64(kind.penalty[s.nodes[i]])
		}
		for _, n := range kind.needs {
			s.free[i][n.resource] -= n.amount
		}
		s.holds[i]++
		s.visit(position, s.nodes[i], own)
		s.holds[i]--
		for _, n := range kind.needs {
			s.free[i][n.resource] += n.amount
		}
	}
}

func (s *ringSearch) visit(position int, node tree.NodeID, penalty value) {
	if s.steps--; s.steps <= 0 {
		return
	}
	s.p.stop.count(1)
	l := s.put(position, node)
	s.at = append(s.at, node)
	bound := s.cost
	bound.penalty = penalty.penalty
	bound.bytes += s.closing
	if bound.less(s.best, s.p.byBusy) {
		s.next(penalty)
	}
	s.at = s.at[:position]
	s.back(l)
}

// order of the nodes that the next pod may be put on, nearest to the last one first. Of nodes that are alike only one is
// tried.
func (s *ringSearch) order(position int) []int {
	t, kind := s.p.t, &s.p.podClasses[s.pods[position].kind]
	var order []int
	for i, n := range s.nodes {
		if kind.shape.Fit(n) == 0 || !s.fits(i, kind) || s.p.limit > 0 && position > 0 && t.Ancestor(n, s.p.limit) != t.Ancestor(s.at[0], s.p.limit) {
			continue
		}
		if !slices.ContainsFunc(order, func(j int) bool { return s.same(i, j) }) {
			order = append(order, i)
		}
	}
	if position > 0 {
		last := s.at[position-1]
		slices.SortStableFunc(order, func(i, j int) int { return t.CommonTier(s.nodes[i], last) - t.CommonTier(s.nodes[j], last) })
	}
	return order
}

func (s *ringSearch) fits(i int, kind *podClass) bool {
	for _, n := range kind.needs {
		if s.free[i][n.resource] < n.amount {
			return false
		}
	}
	return true
}

// same reports whether two nodes that hold no member differ only in their names.
func (s *ringSearch) same(i, j int) bool {
	a, b := s.nodes[i], s.nodes[j]
	return s.holds[i] == 0 && s.holds[j] == 0 && !s.fixedOn[a] && !s.fixedOn[b] && s.p.interchangeable(a, b) && slices.Equal(s.free[i], s.free[j])
}

// take takes the capacity that some members of a plan need.
func (s *ringSearch) take(plan []gang.Assignment, needs func(gang.Assignment) bool) {
	for _, n := range s.nodes {
		s.free = append(s.free, slices.Clone(s.p.t.Free(tree.DomainID(n))))
	}
	for _, a := range plan {
		j, ok := slices.BinarySearch(s.nodes, a.Node)
		if !ok || !needs(a) {
			continue
		}
		for r, amount := range s.p.d.Roles[a.Role].Request {
			s.free[j][r] -= amount
		}
	}
}
