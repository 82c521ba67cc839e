// SPDX-License-Identifier: Apache-2.0

package placement

// traffic is what a domain's uplink carries, worked out from how many members of each class the domain holds. Each
// pattern has one.
type traffic interface {
	// classes is the length of a row.
	classes() int
	// load in one direction, in units.
	load(v DomainID, row []int32) int64
	// island loads of a node, in units, for members with so many GPUs each: their sum and the largest.
	island(node NodeID, row []int32, gpus int) (sum, most int64)
	// unit in bytes.
	unit() float64
}

// kind is a set of members to place that are interchangeable: same role, same class of traffic.
type kind struct {
	role    int
	class   int // column in rows; below 0 for silent members
	indexes []int
	count   int32
	gpus    int
	request []int64
	needs   []need // what is not 0 of the request
	penalty []int32
	shape   *fitShape
}

type need struct {
	resource int
	amount   int64
}

// problem is a demand made ready for the solver: so many members of each kind, to be put on nodes.
type problem struct {
	t       *Topology
	d       *Demand
	traffic traffic
	classes int
	unit    float64
	kinds   []kind
	fixed   []fixedMember
	weights []int64
	byBusy  bool
	effort  int
	gpus    int // of most pods on a collective's ring

	limit int // tier within one domain of which everything must be; 0 for none
	coloc int // tier of whose domains no one may hold workers to place and no server; 0 for none
	// working are the workers placed before in domains of that tier.
	working map[DomainID]int64
}

type fixedMember struct {
	node  NodeID
	class int
}

// newProblem takes so many pending members of each role, lowest indexes first. The demand has been checked.
func newProblem(t *Topology, d *Demand, o Options, take []int) *problem {
	p := &problem{t: t, d: d, weights: t.weights, byBusy: o.Objective == BusiestFirst, effort: o.effort(), limit: d.HighestTier}
	if d.colocated() {
		p.coloc, p.working = d.colocationTier(), map[DomainID]int64{}
	}
	if d.Pattern == Collective {
		p.addRing(take)
	} else {
		p.addFlows(take)
	}
	for _, f := range p.fixed {
		if p.coloc > 0 && f.class > serverClass {
			p.working[p.t.Ancestor(f.node, p.coloc)]++
		}
	}
	p.unit = p.traffic.unit()
	p.classes = p.traffic.classes()
	if d.Colocation == None {
		p.weights, p.unit = make([]int64, len(t.weights)), 0
	}
	for i := range p.kinds {
		k := &p.kinds[i]
		role := &d.Roles[k.role]
		k.count = int32(len(k.indexes))
		k.request, k.penalty, k.gpus = role.Request, role.Penalty, int(t.gpusOf(role.Request))
		k.shape = p.shapeOf(i)
		for r, amount := range role.Request {
			if amount > 0 {
				k.needs = append(k.needs, need{r, amount})
			}
		}
	}
	return p
}

func (p *problem) shapeOf(i int) *fitShape {
	role := &p.d.Roles[p.kinds[i].role]
	for j := range i {
		if p.kinds[j].role == p.kinds[i].role {
			return p.kinds[j].shape
		}
	}
	if role.Eligible != nil {
		return newFitShape(p.t, role.Request, role.Eligible)
	}
	return p.t.fits.shape(role.Request)
}

func (p *problem) addFlows(take []int) {
	total := make([]int, p.d.classes())
	for r := range p.d.Roles {
		role, class := &p.d.Roles[r], p.d.class(r)
		for _, member := range role.Placed {
			p.fixed = append(p.fixed, fixedMember{member.Node, class})
		}
		if take[r] > 0 {
			p.kinds = append(p.kinds, kind{role: r, class: class, indexes: role.Pending[:take[r]]})
		}
		if class >= 0 {
			total[class] += len(role.Placed) + take[r]
		}
	}
	if p.d.Pattern == Single {
		total = nil
		for i := range p.kinds {
			p.kinds[i].class = -1
		}
	}
	if total == nil {
		p.traffic = &flows{}
		return
	}
	p.traffic = p.d.flowsOf(total)
}

// addRing finds the gaps of a Collective: a class for each, and a kind for each role in it.
func (p *problem) addRing(take []int) {
	c := &collective{t: p.t, group: 1, size: p.d.GroupSize, weight: p.d.groupWeight(), base: map[DomainID]int64{}}
	p.traffic = c
	pods := 0
	for r := range p.d.Roles {
		pods += len(p.d.Roles[r].Placed) + take[r]
	}
	ring := make([]seat, 0, pods)
	ranks, most := 0, 0
	for r := range p.d.Roles {
		role := &p.d.Roles[r]
		pending := role.Pending[:take[r]]
		if role.Traffic != Worker {
			for _, member := range role.Placed {
				p.fixed = append(p.fixed, fixedMember{member.Node, -1})
			}
			if take[r] > 0 {
				p.kinds = append(p.kinds, kind{role: r, class: -1, indexes: pending})
			}
			continue
		}
		members, gpus := len(role.Placed)+take[r], int(p.t.gpusOf(role.Request))
		ranks += members * max(1, gpus)
		if members > most {
			most, p.gpus = members, gpus
		}
		i := 0
		for _, member := range role.Placed {
			for ; i < len(pending) && pending[i] < member.Index; i++ {
				ring = append(ring, seat{role: r, index: pending[i], node: -1})
			}
			ring = append(ring, seat{role: r, index: member.Index, node: member.Node, fixed: true})
		}
		for ; i < len(pending); i++ {
			ring = append(ring, seat{role: r, index: pending[i], node: -1})
		}
	}
	c.bytes = endBytes(ranks, p.d.parameterBytes())
	c.length = int64(len(ring))
	c.group = groupInPods(p.d.GroupSize, max(1, p.gpus))
	p.cutIntoGaps(c, ring)
}

func (p *problem) cutIntoGaps(c *collective, ring []seat) {
	first := -1
	for i, s := range ring {
		if s.fixed {
			p.fixed = append(p.fixed, fixedMember{s.node, -1})
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		if len(ring) > 0 {
			c.gaps = append(c.gaps, gap{length: int64(len(ring)), left: -1, right: -1})
			p.addGap(0, ring)
		}
		return
	}
	// Walk once around, from the first fixed member to itself.
	for i := 0; i < len(ring); {
		at := (first + i) % len(ring)
		length := 0
		for !ring[(at+1+length)%len(ring)].fixed {
			length++
		}
		left, right := ring[at].node, ring[(at+1+length)%len(ring)].node
		if length == 0 {
			for u, v := DomainID(left), DomainID(right); u != v; u, v = p.t.parent[u], p.t.parent[v] {
				c.base[u]++
				c.base[v]++
			}
		} else {
			c.gaps = append(c.gaps, gap{length: int64(length), start: int64(at + 1), left: left, right: right})
			members := make([]seat, length)
			for j := range members {
				members[j] = ring[(at+1+j)%len(ring)]
			}
			p.addGap(len(c.gaps)-1, members)
		}
		i += length + 1
	}
}

func (p *problem) addGap(class int, members []seat) {
	for i, s := range members {
		if i == 0 || s.role != members[i-1].role {
			p.kinds = append(p.kinds, kind{role: s.role, class: class, indexes: make([]int, 0, len(members)-i)})
		}
		k := &p.kinds[len(p.kinds)-1]
		k.indexes = append(k.indexes, s.index)
	}
}

// groupInPods is how many pods of so many GPUs share no parallel group with others: 1 if each group is inside one pod.
func groupInPods(size, gpus int) int64 {
	if size <= 1 || gpus%size == 0 {
		return 1
	}
	pods := 1
	for pods*gpus%size != 0 {
		pods++
	}
	return int64(pods)
}
