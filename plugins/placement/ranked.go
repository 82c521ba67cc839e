// SPDX-License-Identifier: Apache-2.0

package placement

// rankedPlan is the best of several plans, once each is improved rank by rank.
func (p *problem) rankedPlan(found []incumbent, lo, hi NodeID) *Plan {
	var near []NodeID
	if hi-lo <= maxTargets {
		for n := lo; n < hi; n++ {
			near = append(near, n)
		}
	}
	plan, best := &Plan{}, value{}
	try := func(assignments []Assignment, of value) {
		assigned, v := p.improveRing(near, assignments, ringWork/len(found)*p.effort)
		v.penalty, v.harm = of.penalty, of.harm
		if plan.Assignments == nil || v.less(best, p.byBusy) {
			plan.Assignments, best = assigned, v
		}
	}
	for i := range found {
		try(p.dealt(found[i].nodes, found[i].counts), found[i].value)
	}
	if p.ring.group > 1 && best.bytes > 0 {
		if gathered, ok := p.gatherRing(near, plan.Assignments); ok {
			try(gathered, found[0].value)
		}
	}
	return plan
}

// dealt is the better of two ways to deal ranks: whole groups first, or straight along the tree.
func (p *problem) dealt(nodes []NodeID, counts []int32) []Assignment {
	grouped := p.assign(nodes, counts)
	if p.ring.group == 1 {
		return grouped
	}
	pods := newRingPods(p)
	straight := p.assignBy(nodes, counts, false)
	if pods.value(pods.read(straight)).less(pods.value(pods.read(grouped)), p.byBusy) {
		return straight
	}
	return grouped
}
