// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"math"
	"slices"

	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// leaning is what counts in a plan after the network: what pods would rather have, and what is remembered of their job.
type leaning struct {
	own    [][]int32            // by role: penalties of the pods' own preferences; nil where all nodes are equal
	ran    [][]placement.NodeID // by role and position in Role.Pending: where the pod ran, noNode if that is not known
	failed []placement.NodeID   // nodes on which one of the job's pods failed
}

const noNode placement.NodeID = -1

// leaning reads the preferences of a plan's pods and what is remembered of them.
func (c *course) leaning(p *plan) *leaning {
	t := c.network.Topology()
	l := &leaning{}
	for _, pending := range p.cast.pending {
		var own []int32
		if len(pending) > 0 {
			own = c.preferences.penalties(t, pending[0])
		}
		l.own = append(l.own, own)
	}
	past, ok := c.history.Get(p.job.UID)
	if !ok {
		return l
	}
	for _, pending := range p.cast.pending {
		ran := make([]placement.NodeID, len(pending))
		for i, task := range pending {
			ran[i] = noNode
			if id, ok := c.network.Node(past.Nodes[task.Name]); ok {
				ran[i] = id
			}
		}
		l.ran = append(l.ran, ran)
	}
	for _, name := range past.FailedNodes {
		if id, ok := c.network.Node(name); ok {
			l.failed = append(l.failed, id)
		}
	}
	return l
}

// best is the plan that is best for the network and, among those, best for the pods. A gang that starts again stays
// where it ran unless that plan is clearly better.
func (c *course) best(p *plan) (*placement.Plan, error) {
	if p.leaning == nil {
		p.leaning = c.leaning(p)
		p.leaning.penalize(&p.cast.demand, c.network.Topology().Nodes())
	}
	t, l := c.network.Topology(), p.leaning
	return search(c.guard, workOn{metrics.PartPlan, p.job.UID}, c.lost, func(stop func() bool) (*placement.Plan, error) {
		o := c.options(stop)
		found, d, err := l.spare(t, &p.cast.demand, o)
		if err != nil {
			return nil, err
		}
		if kept := l.stay(t, d, found, o); kept != nil && c.stays(d, kept, found) {
			klog.V(3).InfoS("Gang keeps its place", "job", p.job.UID)
			return kept, nil
		}
		return found, nil
	})
}

// options of a search.
func (c *course) options(stop func() bool) placement.Options {
	return placement.Options{Objective: c.arguments.Objective, Effort: c.arguments.SearchBudget, Stop: stop}
}

// stays tells whether a gang that could have the plan found keeps the place that it had.
func (c *course) stays(d *placement.Demand, kept, found *placement.Plan) bool {
	const rounding = 1e-9
	return len(kept.Assignments) >= len(found.Assignments) && kept.Cost.Penalty <= found.Cost.Penalty &&
		(d.Colocation == placement.None ||
			c.price(&kept.Cost) <= c.price(&found.Cost)*(1+c.arguments.RestartTolerancePercent/100)*(1+rounding))
}

// penalize writes the penalties of a demand: nodes that failed weigh more than all preferences of all pods, and these
// more than the places that pods had.
func (l *leaning) penalize(d *placement.Demand, nodes int) {
	members, most := 0, int32(0)
	for r := range d.Roles {
		members += len(d.Roles[r].Pending)
		if l.own[r] != nil {
			most = max(most, slices.Max(l.own[r]))
		}
	}
	scale := newScale(members, most)
	for r := range d.Roles {
		d.Roles[r].Penalty = scale.penalties(nodes, l.own[r], l.placesOf(r), l.failed)
	}
}

// placesOf are the nodes that pending pods of a role had.
func (l *leaning) placesOf(role int) []placement.NodeID {
	if l.ran == nil {
		return nil
	}
	places := slices.DeleteFunc(slices.Clone(l.ran[role]), func(id placement.NodeID) bool { return id == noNode })
	slices.Sort(places)
	return slices.Compact(places)
}

// scale makes one number of three ranks, so that any amount of a lower rank weighs less than the least of a higher one.
type scale struct {
	step int64 // more than all pods of the job can have of the rank below
	most int64 // the largest preference
	top  int64 // what it is reduced to, where it is so large that the ranks would not fit
}

// maxStep bounds the members for which the order of ranks is strict. Preferences then have room for 2,000 steps, twice
// what nodeorder's default weights make of one preference of each kind.
const maxStep = 1024

func newScale(members int, most int32) scale {
	s := scale{step: int64(min(members, maxStep)) + 1, most: int64(most)}
	s.top = min(s.most, (math.MaxInt32/(s.step+1)-1)/s.step)
	return s
}

// penalties of each node; nil if there are none. places are nodes that are a little better than others, failed ones come
// last.
func (s scale) penalties(nodes int, own []int32, places, failed []placement.NodeID) []int32 {
	if len(places) == 0 && len(failed) == 0 {
		return own
	}
	penalties := make([]int32, nodes)
	for id, penalty := range own {
		reduced := int64(penalty)
		if s.most > s.top {
			reduced = (reduced*s.top + s.most - 1) / s.most
		}
		penalties[id] = int32(reduced * s.step)
	}
	if len(places) > 0 {
		for id := range penalties {
			penalties[id]++
		}
		for _, id := range places {
			penalties[id]--
		}
	}
	for _, id := range failed {
		penalties[id] += int32((s.top*s.step + 1) * s.step)
	}
	return penalties
}

// spare is the best plan that uses no node on which a pod of the job failed, or, if there is none, the best that does;
// and the demand that it fulfils. Pods beyond the minimums use such nodes rather than wait.
func (l *leaning) spare(t *placement.Topology, d *placement.Demand, o placement.Options) (*placement.Plan, *placement.Demand, error) {
	if len(l.failed) == 0 {
		found, err := placement.Solve(t, d, o)
		return found, d, err
	}
	sparing := l.without(t, d)
	found, err := placement.Solve(t, sparing, o)
	switch {
	case errors.Is(err, placement.ErrNoFit):
		found, err = placement.Solve(t, d, o)
		return found, d, err
	case err == nil && len(found.Left) > 0:
		if more, err := planAround(t, d, found.Assignments, o); err == nil {
			return more, d, nil
		}
	}
	return found, sparing, err
}

// without is a demand in which no node is eligible on which a pod of the job failed.
func (l *leaning) without(t *placement.Topology, d *placement.Demand) *placement.Demand {
	sparing := *d
	sparing.Roles = slices.Clone(d.Roles)
	for r := range sparing.Roles {
		eligible := placement.NewNodeSet(t)
		for id := range placement.NodeID(t.Nodes()) {
			if d.Roles[r].Eligible == nil || d.Roles[r].Eligible.Has(id) {
				eligible.Add(id)
			}
		}
		for _, id := range l.failed {
			eligible.Remove(id)
		}
		sparing.Roles[r].Eligible = eligible
	}
	return &sparing
}
