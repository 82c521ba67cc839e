// SPDX-License-Identifier: Apache-2.0

package placement

import "slices"

// needsRanks says whether counts per domain leave something of the cost open: parallel groups that pods share, several
// islands in a node, or several roles on one ring.
func (p *problem) needsRanks() bool {
	ring, ok := p.traffic.(*collective)
	if !ok || p.unit == 0 || len(ring.gaps) == 0 {
		return false
	}
	roles := 0
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		if role.Traffic != Worker || len(role.Pending)+len(role.Placed) == 0 {
			continue
		}
		roles++
		gpus := int(p.t.gpusOf(role.Request))
		if p.d.GroupSize > 1 && gpus%p.d.GroupSize != 0 || p.d.GroupSize > 1 && gpus == 0 || len(p.t.gpus.free) > 0 && gpus > 0 {
			return true
		}
	}
	return roles > 1
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
		if !slices.ContainsFunc(order, func(j int) bool { return s.alike(i, j) }) {
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

// alike says whether two nodes side by side cannot be told apart but for their names.
func (s *ringSearch) alike(i, j int) bool {
	a, b := s.nodes[i], s.nodes[j]
	t := s.p.t
	if s.holds[i] > 0 || s.holds[j] > 0 || s.fixedOn[a] || s.fixedOn[b] || t.parent[a] != t.parent[b] || t.bandwidth[a] != t.bandwidth[b] {
		return false
	}
	for k := range s.p.kinds {
		kind := &s.p.kinds[k]
		if kind.shape.fit[a] != kind.shape.fit[b] || kind.penalty != nil && kind.penalty[a] != kind.penalty[b] {
			return false
		}
	}
	return slices.Equal(s.room[i], s.room[j]) && slices.Equal(t.gpus.of(a), t.gpus.of(b))
}

// meet is the tier of the lowest domain that holds both nodes; NodeTier if they are one.
func (t *Topology) meet(a, b NodeID) int {
	tier := NodeTier
	for u, v := DomainID(a), DomainID(b); u != v; u, v, tier = t.parent[u], t.parent[v], tier+1 {
	}
	return tier
}

// improveRing moves and swaps ranks, among the nodes given and those of the plan, while the ring gets cheaper.
func (p *problem) improveRing(nodes []NodeID, plan []Assignment, work int) ([]Assignment, value) {
	s := &ringSearch{ringPods: newRingPods(p)}
	at := s.read(plan)
	s.best = s.value(at)
	if s.best.bytes == 0 {
		return plan, s.best
	}
	s.nodes = p.within(union(nodes, at), plan)
	s.take(plan, func(Assignment) bool { return true })
	s.steps = work / max(1, s.total)
	for s.step(at) && s.steps > 0 {
	}
	return s.write(plan, at), s.best
}

// gatherRing makes another plan of one, its parallel groups kept together where that can be.
func (p *problem) gatherRing(nodes []NodeID, plan []Assignment) ([]Assignment, bool) {
	s := &ringSearch{ringPods: newRingPods(p)}
	at := s.read(plan)
	s.nodes = p.within(union(nodes, at), plan)
	s.take(plan, func(a Assignment) bool { return p.d.Roles[a.Role].Traffic != Worker })
	if !s.gather(at) {
		return nil, false
	}
	return s.write(plan, at), true
}

// within are those of the nodes where members may go without breaking the limit that the plan keeps.
func (p *problem) within(nodes []NodeID, plan []Assignment) []NodeID {
	if p.limit == 0 || len(plan) == 0 {
		return nodes
	}
	domain := p.t.Ancestor(plan[0].Node, p.limit)
	return slices.DeleteFunc(slices.Clone(nodes), func(n NodeID) bool { return !p.t.Holds(domain, n) })
}

// take takes the room that some members of a plan need.
func (s *ringSearch) take(plan []Assignment, who func(Assignment) bool) {
	for _, n := range s.nodes {
		s.room = append(s.room, slices.Clone(s.p.t.Free(DomainID(n))))
	}
	for _, a := range plan {
		j, ok := slices.BinarySearch(s.nodes, a.Node)
		if !ok || !who(a) {
			continue
		}
		for r, amount := range s.p.d.Roles[a.Role].Request {
			s.room[j][r] -= amount
		}
	}
}

// step makes the first change that helps: runs of neighbours go to another node, or change places with as many others.
func (s *ringSearch) step(at []NodeID) bool {
	lengths := []int{1}
	for _, n := range []int{int(s.ring.group), 2, 3, 4} {
		if !slices.Contains(lengths, n) && n < len(at) {
			lengths = append(lengths, n)
		}
	}
	for _, length := range slices.Backward(lengths) {
		for lo := 0; lo+length <= len(at); lo++ {
			if s.steps <= 0 || s.settled(lo, length) {
				continue
			}
			if s.together(at, lo, lo+length) {
				return true
			}
			for other := lo + length; other+length <= len(at); other++ {
				if !s.settled(other, length) && s.exchange(at, lo, other, length) {
					return true
				}
			}
		}
	}
	return false
}

// settled says whether some of the pods in a run were placed before.
func (s *ringSearch) settled(lo, length int) bool {
	return slices.ContainsFunc(s.pods[lo:lo+length], func(p ringPod) bool { return p.kind < 0 })
}

// exchange swaps two runs of equally many pods, if that helps.
func (s *ringSearch) exchange(at []NodeID, a, b, length int) bool {
	differ := false
	for i := range length {
		if s.pods[a+i].role != s.pods[b+i].role {
			return false
		}
		differ = differ || at[a+i] != at[b+i]
	}
	if !differ {
		return false
	}
	flip := func() {
		for i := range length {
			at[a+i], at[b+i] = at[b+i], at[a+i]
		}
	}
	if flip(); s.better(at) {
		return true
	}
	flip()
	return false
}

// together moves a run of pods to one node, if that helps.
func (s *ringSearch) together(at []NodeID, lo, hi int) bool {
	was := slices.Clone(at[lo:hi])
	s.shift(was, lo, 1)
	for j, n := range s.nodes {
		moved := 0
		for i := lo; i < hi && s.p.kinds[s.pods[i].kind].shape.fit[n] > 0 && s.hasRoom(j, &s.p.kinds[s.pods[i].kind]); i++ {
			at[i] = n
			s.shift(at[i:i+1], i, -1)
			moved++
		}
		if moved == hi-lo && !slices.Equal(at[lo:hi], was) && s.better(at) {
			return true
		}
		s.shift(at[lo:lo+moved], lo, 1)
		copy(at[lo:hi], was)
	}
	s.shift(was, lo, -1)
	return false
}

// shift gives room back for pods from position lo on, on the given nodes, or takes it.
func (s *ringSearch) shift(at []NodeID, lo int, sign int64) {
	for i, n := range at {
		j, _ := slices.BinarySearch(s.nodes, n)
		for _, need := range s.p.kinds[s.pods[lo+i].kind].needs {
			s.room[j][need.resource] += sign * need.amount
		}
	}
}

func (s *ringSearch) better(at []NodeID) bool {
	if s.steps--; s.steps <= 0 {
		return false
	}
	v := s.value(at)
	if !v.less(s.best, s.p.byBusy) {
		return false
	}
	s.best = v
	return true
}
