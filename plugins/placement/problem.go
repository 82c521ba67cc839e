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
	ring    *collective // the traffic, if it is a ring
	classes int
	unit    float64
	kinds   []kind
	fixed   []fixedMember
	weights []int64
	byBusy  bool
	effort  int
	noExact bool
	gpus    int // of most pods on a collective's ring
	stop    stopper

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
	p := &problem{t: t, d: d, weights: t.weights, byBusy: o.Objective == BusiestFirst, effort: o.effort(), noExact: o.noExact, limit: d.HighestTier, stop: stopper{stop: o.Stop}}
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
