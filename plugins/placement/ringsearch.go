// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// needsRanks says whether counts per domain leave something of the cost open: parallel groups that pods share, several
// islands in a node, or several roles on one ring.
func (p *problem) needsRanks() bool {
	ring := p.ring
	if ring == nil || p.unit == 0 || len(ring.gaps) == 0 {
		return false
	}
	roles, members := 0, 0
	islands := false
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		if role.Traffic != Worker || len(role.Pending)+len(role.Placed) == 0 {
			continue
		}
		roles++
		members += len(role.Pending) + len(role.Placed)
		gpus := int(p.t.gpusOf(role.Request))
		if p.d.GroupSize > 1 && (gpus == 0 || gpus%p.d.GroupSize != 0) {
			return true
		}
		islands = islands || len(p.t.gpus.free) > 0 && gpus > 0
	}
	// Islands differ by where the ring begins: little, for a large job.
	return roles > 1 || islands && members <= largeJob
}

// ringSearch is a depth-first search, rank by rank, for a plan that is cheaper than the best one known. What the ring has
// cost so far, and the way back to its first rank, bound what a branch can still come to.
type ringSearch struct {
	*ringPods
	nodes   []NodeID
	room    [][]int64 // what is left on each of nodes
	holds   []int     // how many pods each of nodes was given
	at      []NodeID  // of the pods so far
	best    value
	found   []NodeID
	steps   int
	fixedOn map[NodeID]bool
}

// searchRing improves a plan, whose members that are not on the ring stay where they are. whole says whether nothing
// cheaper can be left.
func (p *problem) searchRing(nodes []NodeID, plan []Assignment, limit int) (better []Assignment, whole bool) {
	s := &ringSearch{ringPods: newRingPods(p), nodes: nodes, steps: limit, fixedOn: map[NodeID]bool{}}
	if len(plan) > s.pending() {
		s.nodes = p.within(nodes, plan)
	}
	was := s.read(plan)
	s.best = s.value(was)
	s.take(plan, func(a Assignment) bool { return p.d.Roles[a.Role].Traffic != Worker })
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
func (r *ringPods) read(plan []Assignment) []NodeID {
	nodes := make([]NodeID, len(r.pods))
	at := map[Member]NodeID{}
	for _, a := range plan {
		at[Member{a.Role, a.Index}] = a.Node
	}
	for i, pod := range r.pods {
		if nodes[i] = pod.node; pod.node < 0 {
			nodes[i] = at[Member{pod.role, pod.index}]
		}
	}
	return nodes
}

// write puts the ring's pods on other nodes.
func (r *ringPods) write(plan []Assignment, nodes []NodeID) []Assignment {
	at := map[Member]NodeID{}
	for i, pod := range r.pods {
		at[Member{pod.role, pod.index}] = nodes[i]
	}
	plan = slices.Clone(plan)
	for i := range plan {
		if node, ok := at[Member{plan[i].Role, plan[i].Index}]; ok {
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
		kind := &s.p.kinds[pod.kind]
		own := penalty
		if kind.penalty != nil {
			own.penalty += int64(kind.penalty[s.nodes[i]])
		}
		for _, n := range kind.needs {
			s.room[i][n.resource] -= n.amount
		}
		s.holds[i]++
		s.visit(position, s.nodes[i], own)
		s.holds[i]--
		for _, n := range kind.needs {
			s.room[i][n.resource] += n.amount
		}
	}
}

func (s *ringSearch) visit(position int, node NodeID, penalty value) {
	if s.steps--; s.steps <= 0 {
		return
	}
	s.p.stop.count(1)
	l := s.put(position, node)
	s.at = append(s.at, node)
	bound := s.cost
	bound.penalty = penalty.penalty
	if len(s.ranks) < s.total {
		bound.bytes += s.wayBack()
	}
	if bound.less(s.best, s.p.byBusy) {
		s.next(penalty)
	}
	s.at = s.at[:position]
	s.back(l)
}

// wayBack is the least that the rest of the ring costs: from here to where it began, if that is elsewhere.
func (s *ringSearch) wayBack() (bytes int64) {
	t := s.p.t
	tier := NodeTier
	for u, v := DomainID(s.ranks[len(s.ranks)-1].node), DomainID(s.ranks[0].node); u != v; u, v, tier = t.parent[u], t.parent[v], tier+1 {
		bytes += 2 * t.weights[tier]
	}
	return bytes
}

// order of the nodes that the next pod may be put on, nearest to the last one first. Of nodes that are alike only one is
// tried.
func (s *ringSearch) order(position int) []int {
	t, kind := s.p.t, &s.p.kinds[s.pods[position].kind]
	var order []int
	for i, n := range s.nodes {
		if kind.shape.fit[n] == 0 || !s.hasRoom(i, kind) || s.p.limit > 0 && position > 0 && t.Ancestor(n, s.p.limit) != t.Ancestor(s.at[0], s.p.limit) {
			continue
		}
		if !slices.ContainsFunc(order, func(j int) bool { return s.same(i, j) }) {
			order = append(order, i)
		}
	}
	if position > 0 {
		last := s.at[position-1]
		slices.SortStableFunc(order, func(i, j int) int { return t.meet(s.nodes[i], last) - t.meet(s.nodes[j], last) })
	}
	return order
}

func (s *ringSearch) hasRoom(i int, kind *kind) bool {
	for _, n := range kind.needs {
		if s.room[i][n.resource] < n.amount {
			return false
		}
	}
	return true
}

// same says whether two nodes that hold nobody cannot be told apart but for their names.
func (s *ringSearch) same(i, j int) bool {
	a, b := s.nodes[i], s.nodes[j]
	return s.holds[i] == 0 && s.holds[j] == 0 && !s.fixedOn[a] && !s.fixedOn[b] && s.p.alike(a, b) && slices.Equal(s.room[i], s.room[j])
}

// meet is the tier of the lowest domain that holds both nodes; NodeTier if they are one.
func (t *Topology) meet(a, b NodeID) int {
	tier := NodeTier
	for u, v := DomainID(a), DomainID(b); u != v; u, v, tier = t.parent[u], t.parent[v], tier+1 {
	}
	return tier
}
