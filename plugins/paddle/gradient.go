// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// gradientForJob names the HyperNodes in which allocate tries a job with a hard limit: the smallest one that holds the
// plan. For jobs of others it answers what would be answered without this plugin.
func (p *plugin) gradientForJob(job *api.JobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
	stock := func() (answer [][]*api.HyperNodeInfo) {
		p.withStockTiers(func() { answer = p.ssn.HyperNodeGradientForJobFn(job, top) })
		return answer
	}
	if _, ok := p.gangs[job.UID]; !ok {
		return stock()
	}
	return p.gradient(scope{job: job}, top, stock)
}

// gradientForSubJob does the same for a group of a SubGroupPolicy.
func (p *plugin) gradientForSubJob(sub *api.SubJobInfo, top *api.HyperNodeInfo) [][]*api.HyperNodeInfo {
	stock := func() (answer [][]*api.HyperNodeInfo) {
		p.withStockTiers(func() { answer = p.ssn.HyperNodeGradientForSubJobFn(sub, top) })
		return answer
	}
	job, ok := p.ssn.Jobs[sub.Job]
	if !ok {
		return stock()
	}
	if _, ok := p.gangs[job.UID]; !ok {
		return stock()
	}
	if !job.ContainsSubJobPolicy() {
		return [][]*api.HyperNodeInfo{{top}}
	}
	return p.gradient(scope{job: job, sub: sub.UID}, top, stock)
}

func (p *plugin) gradient(s scope, top *api.HyperNodeInfo, stock func() [][]*api.HyperNodeInfo) [][]*api.HyperNodeInfo {
	p.tried = s.job.UID
	c := p.course
	if _, err := c.topology(); err != nil {
		return stock()
	}
	tier, err := c.highestTier(s)
	if err != nil {
		p.recordError(s.job, err)
		return nil
	}
	if tier == 0 {
		return [][]*api.HyperNodeInfo{{top}}
	}
	plan := c.plan(s)
	switch {
	case plan.placed():
		var smallest *api.HyperNodeInfo
		if err := c.guard.Run(guard.Work{Part: metrics.PartPlan, Job: s.job.UID}, func() error {
			smallest = p.hyperNode(plan, top)
			return nil
		}); err != nil {
			c.lost()
			return stock()
		}
		return [][]*api.HyperNodeInfo{{smallest}}
	case errors.Is(plan.err, errInfeasible), errors.Is(plan.err, errLimit):
		p.recordError(s.job, c.why(plan))
		return nil
	default:
		return stock()
	}
}

// hyperNode is the smallest HyperNode below top that holds all members of a plan, else top.
func (p *plugin) hyperNode(plan *plan, top *api.HyperNodeInfo) *api.HyperNodeInfo {
	t := p.course.network.Topology()
	var members []placement.NodeID
	for _, a := range plan.found.Assignments {
		members = append(members, a.Node)
	}
	for r := range plan.cast.demand.Roles {
		for _, placed := range plan.cast.demand.Roles[r].Placed {
			members = append(members, placed.Node)
		}
	}
	if len(members) == 0 {
		return top
	}
	for tier := placement.NodeTier; tier < len(t.Tiers()); tier++ {
		domain := t.Ancestor(members[0], tier)
		found, known := p.ssn.HyperNodes[p.course.network.HyperNode(domain)]
		if known && holdsAll(t, domain, members) {
			return found
		}
	}
	return top
}

func holdsAll(t *placement.Topology, domain placement.DomainID, nodes []placement.NodeID) bool {
	for _, node := range nodes {
		if !t.Holds(domain, node) {
			return false
		}
	}
	return true
}
