// SPDX-License-Identifier: Apache-2.0

// Package solver finds the plan of a gang with the lowest cost.
//
// A problem is a demand made ready: classes of equal pods, how many of each fit on each node, and a traffic.Model. One node that
// holds all is found first. Small jobs are solved exactly (exact.go). For others plans are constructed from several
// starts (search.go, construct.go, packing.go) and improved. Members then get their ranks (ranks.go). Small rings where
// ranks decide are searched rank by rank (ringsearch.go).
package solver

import (
	"errors"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement/gang"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/traffic"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement/tree"
)

// Objective orders the two costs of traffic.
type Objective int

const (
	// BytesFirst compares the weighted bytes across all tiers, then the busiest uplink.
	BytesFirst Objective = iota
	// BusiestFirst compares the busiest uplink, then the weighted bytes.
	BusiestFirst
)

// Options of planning.
type Options struct {
	Objective Objective
	// Effort multiplies the bound on work. 0 means 1.
	Effort int
	// Stop, if it is not nil, ends a search: Solve and Diagnose call it every few hundred microseconds, on their own
	// goroutine, and return ErrStopped once it returns true.
	Stop func() bool

	noExact bool // without the exact search for small jobs: for tests
}

func (o Options) effort() int { return max(1, o.Effort) }

// Plan is where the members of one job go.
type Plan struct {
	// Assignments of pending members by role, then index.
	Assignments []gang.Assignment
	// Left are members beyond the minimums that have no capacity, by role, then index.
	Left []gang.Member
	// Cost of the whole job with its placed members.
	Cost traffic.Cost
	// Optimal reports that no plan of these members is cheaper by the objective.
	Optimal bool
}

// ErrNoFit is what Solve returns when no plan was found; Diagnose reports why.
var ErrNoFit = errors.New("the gang does not fit")

// Solve plans one job: every pending member if they fit, else the minimums and as many more as fit, lowest indexes first.
// It does not change the topology.
func Solve(t *tree.Topology, d *gang.Demand, o Options) (found *Plan, err error) {
	defer catchStop(&err)
	if err := d.Validate(t); err != nil {
		return nil, err
	}
	take := make([]int, len(d.Roles))
	for r := range d.Roles {
		take[r] = len(d.Roles[r].Pending)
	}
	found, ok := plan(t, d, o, take)
	if !ok {
		found, ok = planSome(t, d, o, take)
	}
	if !ok {
		return nil, ErrNoFit
	}
	members, err := d.Members(found.Assignments)
	if err != nil {
		return nil, err
	}
	found.Cost = traffic.CostOf(t, d, members)
	return found, nil
}

// planSome plans the minimums and, role by role, as many more as fit.
func planSome(t *tree.Topology, d *gang.Demand, o Options, all []int) (*Plan, bool) {
	take := make([]int, len(all))
	elastic := false
	for r := range d.Roles {
		take[r] = min(all[r], max(0, d.Roles[r].Minimum-len(d.Roles[r].Placed)))
		elastic = elastic || take[r] < all[r]
	}
	if !elastic {
		return nil, false
	}
	best, ok := plan(t, d, o, take)
	for r := 0; r < len(d.Roles) && !ok && d.Colocated(); r++ {
		// Workers may need servers beyond the minimum.
		for d.Class(r) == gang.ServerClass && !ok && take[r] < all[r] {
			take[r]++
			best, ok = plan(t, d, o, take)
		}
	}
	if !ok {
		return nil, false
	}
	for r := range d.Roles {
		fits, most := take[r], all[r]
		for fits < most {
			take[r] = (fits + most + 1) / 2
			if more, ok := plan(t, d, o, take); ok {
				best, fits = more, take[r]
			} else {
				most = take[r] - 1
			}
		}
		take[r] = fits
	}
	for r, n := range take {
		for _, index := range d.Roles[r].Pending[n:] {
			best.Left = append(best.Left, gang.Member{Role: r, Index: index})
		}
	}
	return best, true
}

// plan places the given number of pending members of each role, or none.
func plan(t *tree.Topology, d *gang.Demand, o Options, take []int) (*Plan, bool) {
	p := newProblem(t, d, o, take)
	p.stop.atOnce()
	if len(p.podClasses) == 0 {
		return &Plan{Optimal: true}, true
	}
	lo, hi, ok := p.scope()
	if !ok {
		return nil, false
	}
	if node, ok := p.onOneNode(lo, hi); ok {
		return &Plan{Assignments: p.assign([]tree.NodeID{node}, p.all()), Optimal: true}, true
	}
	if nodes := p.small(lo, hi); nodes != nil {
		return p.exactPlan(nodes)
	}
	found, ok := p.search(lo, hi)
	if !ok {
		return nil, false
	}
	return &Plan{Assignments: p.orderRanks(p.assign(found.nodes, found.counts))}, true
}

// exactPlan is the best plan on a few nodes.
func (p *problem) exactPlan(nodes []tree.NodeID) (*Plan, bool) {
	counts, ok := newExact(p).solve(nodes)
	if !ok {
		return nil, false
	}
	plan := &Plan{Assignments: p.assign(nodes, counts), Optimal: true}
	if p.needsRanks() {
		plan.Assignments = p.orderRanks(plan.Assignments)
		if plan.Optimal = len(nodes) <= maxTargets; plan.Optimal {
			plan.Assignments, plan.Optimal = p.searchRing(nodes, plan.Assignments, ringSteps*p.effort)
		}
	}
	return plan, true
}

// scope is the range of nodes that may be used: with a highest tier and placed members, that of their domain.
func (p *problem) scope() (lo, hi tree.NodeID, ok bool) {
	if p.limit == 0 || len(p.fixed) == 0 {
		return 0, tree.NodeID(p.t.Nodes()), true
	}
	domain := p.t.Ancestor(p.fixed[0].node, p.limit)
	for _, f := range p.fixed {
		if p.t.Ancestor(f.node, p.limit) != domain {
			return 0, 0, false
		}
	}
	lo, hi = p.t.NodesOf(domain)
	return lo, hi, true
}

const ringSteps = 1 << 15

const (
	// exactWork bounds the pairs of states that an exact search may visit.
	exactWork = 1 << 16
	// exactNodes bounds the nodes that it may begin with.
	exactNodes = 512
)

// small are the nodes that an exact search has to visit, or nil if that is too much work. Nodes of one domain that are
// alike but for their names are one class, of which it needs no more than there are members.
func (p *problem) small(lo, hi tree.NodeID) []tree.NodeID {
	states := p.states()
	if states == 0 || p.noExact || int(hi-lo) > exactNodes*p.effort {
		return nil
	}
	var nodes []tree.NodeID
	classes := p.newClasses()
	for n := lo; n < hi; n++ {
		if p.fitsAny(n) && classes.needs(n) || classes.fixed[n] { // the busiest uplink may be where members run
			nodes = append(nodes, n)
		}
	}
	if p.exactPairs(nodes, states) > exactWork*p.effort {
		return nil
	}
	return nodes
}

// exactPairs is how many pairs of states an exact search visits: those of each node with those of its earlier siblings,
// and the same for the domains just above.
func (p *problem) exactPairs(nodes []tree.NodeID, states int) (pairs int) {
	for i, n := range nodes {
		own := 1
		for k := range p.podClasses {
			own *= int(min(p.podClasses[k].count, p.podClasses[k].shape.Fit(n))) + 1
		}
		pairs += own * states >> (len(p.podClasses) - 1)
		if i == 0 || p.t.Parent(tree.DomainID(n)) != p.t.Parent(tree.DomainID(nodes[i-1])) {
			pairs += states * states >> len(p.podClasses)
		}
	}
	return pairs
}

// ErrStopped is what Solve and Diagnose return when Options.Stop ended them.
var ErrStopped = errors.New("the search was stopped")

// stopEvery is how many steps of a search pass between two calls of Options.Stop: some hundred microseconds at most.
const stopEvery = 1 << 12

// stopper calls Options.Stop after a fixed number of steps. The searches nest deeply, so it leaves them by a panic with stopped,
// which Solve and Diagnose turn into ErrStopped.
type stopper struct {
	stop  func() bool
	steps int
}

type stopped struct{}

// count counts steps of a search, and leaves the search if it is to stop.
func (s *stopper) count(steps int) {
	if s.stop == nil {
		return
	}
	if s.steps += steps; s.steps < stopEvery {
		return
	}
	s.steps = 0
	if s.stop() {
		panic(stopped{})
	}
}

// atOnce calls Options.Stop without counting.
func (s *stopper) atOnce() { s.count(stopEvery) }

// catchStop is deferred: it makes ErrStopped of the panic of a stopper. Other panics continue.
func catchStop(err *error) {
	switch cause := recover().(type) {
	case nil:
	case stopped:
		*err = ErrStopped
	default:
		panic(cause)
	}
}

// onOneNode finds a node for the whole gang that costs no traffic and no preference: no plan is cheaper. Domains are
// descended to by the index of fits, the tightest first, so it costs O(children) for each tier.
func (p *problem) onOneNode(lo, hi tree.NodeID) (tree.NodeID, bool) {
	if len(p.fixed) > 0 {
		return 0, false
	}
	whole := p.whole()
	if whole == nil {
		return 0, false
	}
	node := p.tightestNode(whole)
	if node >= lo && node < hi && p.costsNothing(node) && p.fragmentation(node, p.all()) < brokenIslandWeight {
		return node, true
	}
	return p.anyNode(whole, lo, hi)
}

// anyNodeTries bounds how many nodes anyNode compares, once it has one.
const anyNodeTries = 64

// anyNode is for where the tightest node has its GPUs in several islands, say, or is one that the pods would rather avoid.
func (p *problem) anyNode(whole *tree.Shape, lo, hi tree.NodeID) (tree.NodeID, bool) {
	found, least := tree.NodeID(-1), value{}
	all := p.all()
	for n, tries := lo, 0; n < hi && (found < 0 || tries < anyNodeTries); n++ {
		if whole.Fit(n) == 0 {
			continue
		}
		tries++
		if p.costsNothing(n) {
			if v := (value{fragmentation: p.fragmentation(n, all)}); found < 0 || v.less(least, p.byBusy) {
				found, least = n, v
			}
		}
	}
	return found, found >= 0
}

// whole is the shape of all members together, as one pod; nil if no node holds them.
func (p *problem) whole() *tree.Shape {
	root := p.t.Root()
	total := make([]int64, len(p.t.Resources()))
	var eligible *tree.NodeSet
	for _, l := range p.roleDemands() {
		if l.shape.MostOnNode(root) < tree.Bucket(l.want) {
			return nil
		}
		for _, n := range p.podClasses[l.podClasses[0]].needs {
			if n.amount > tree.MaxAmount/int64(l.want) {
				return nil
			}
			total[n.resource] += int64(l.want) * n.amount
		}
		eligible = eligible.And(p.d.Roles[l.role].Eligible)
	}
	shape := p.t.ShapeOn(total, eligible)
	if shape.Sum(root) == 0 {
		return nil
	}
	return shape
}

// tightestNode that holds a shape: with the least capacity to spare, in the domains with the fewest free GPUs.
func (p *problem) tightestNode(s *tree.Shape) tree.NodeID {
	t := p.t
	d, want := t.Root(), 1
	for s.NodesHolding(d, want) == 0 {
		want++
	}
	for int(d) >= t.Nodes() {
		lo, hi := t.Children(d)
		best := tree.NoDomain
		for c := lo; c < hi; c++ {
			if s.NodesHolding(c, want) > 0 && (best == tree.NoDomain || t.FreeGPUs(c) < t.FreeGPUs(best)) {
				best = c
			}
		}
		d = best
	}
	return tree.NodeID(d)
}

// costsNothing reports whether all members on a node cost neither traffic nor preference, and workers have a required server.
func (p *problem) costsNothing(node tree.NodeID) bool {
	row := make([]int32, p.classes)
	for k := range p.podClasses {
		if class := p.podClasses[k].class; class >= 0 {
			row[class] += p.podClasses[k].count
		}
		if of := p.podClasses[k].penalty; of != nil && of[node] > 0 {
			return false
		}
	}
	if p.colocationTier > 0 && p.workersWithoutServer(tree.DomainID(node), p.colocationTier, row) > 0 {
		return false
	}
	if len(p.t.FreeIslands(node)) > 0 && p.unevenRing() {
		pods := newRingPods(p)
		v := pods.value(slices.Repeat([]tree.NodeID{node}, len(pods.pods)))
		return v.bytes == 0 && v.busy == 0
	}
	v := p.leaf(node, row)
	return v.bytes == 0 && v.busy == 0
}

// unevenRing reports whether pods of several sizes are on a ring: counts then do not give the cost of islands.
func (p *problem) unevenRing() bool {
	first := -1
	for k := range p.podClasses {
		if p.d.Pattern != gang.Collective || p.podClasses[k].class < 0 || p.unit == 0 {
			continue
		}
		if first >= 0 && p.podClasses[k].gpus != first {
			return true
		}
		first = p.podClasses[k].gpus
	}
	return false
}

func (p *problem) all() []int32 {
	all := make([]int32, len(p.podClasses))
	for k := range p.podClasses {
		all[k] = p.podClasses[k].count
	}
	return all
}
