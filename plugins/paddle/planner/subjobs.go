// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"errors"
	"maps"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxDomainAttempts bounds how many domains are tried for a job whose sub-jobs have separate constraints.
const maxDomainAttempts = 8

var errNoDomainForSubJobs = errors.New("no domain holds the groups of the job, each within its own limit")

// planSubJobs replans a job in another domain as long as its sub-jobs do not fit in the domain of its plan: the plan of the
// whole job disregards their constraints.
func (p *Planner) planSubJobs(plan *Plan, t *placement.Topology) error {
	if plan.SubJob != "" || !plan.Job.ContainsSubJobPolicy() || plan.demand.HighestTier == 0 || len(plan.found.Assignments) == 0 {
		return nil
	}
	for range maxDomainAttempts {
		domain := t.Ancestor(plan.found.Assignments[0].Node, plan.demand.HighestTier)
		if p.fitsAllSubJobs(plan, t, domain) {
			return nil
		}
		plan.excludedDomains = append(plan.excludedDomains, domain)
		if err := p.attempt(plan, t, plan.future); err != nil {
			return err
		}
	}
	return errors.Join(placement.ErrNoFit, errNoDomainForSubJobs)
}

// fitsAllSubJobs reports whether as many sub-jobs of each policy as must be whole fit in a domain, planned one after another.
func (p *Planner) fitsAllSubJobs(plan *Plan, t *placement.Topology, domain placement.DomainID) bool {
	mark := t.Begin()
	defer p.rollback(t, mark)
	p.useFutureIdle(plan.future)
	missing := maps.Clone(plan.Job.MinSubJobs)
	for _, id := range slices.Sorted(maps.Keys(plan.Job.SubJobs)) {
		if gid := plan.Job.SubJobs[id].GID; p.reserveSubJob(t, domain, Scope{Job: plan.Job, SubJob: id}) && missing[gid] > 0 {
			missing[gid]--
		}
	}
	for _, least := range missing {
		if least > 0 {
			return false
		}
	}
	return true
}

// reserveSubJob plans a sub-job within a domain and takes its resources. It reports whether the sub-job fits.
func (p *Planner) reserveSubJob(t *placement.Topology, domain placement.DomainID, s Scope) bool {
	tier, err := p.HighestTier(s)
	if err != nil {
		return false
	}
	d := &p.newDemand(s.Job, s.contains, nil).Demand
	d.HighestTier, d.Colocation = tier, placement.Preferred
	for r := range d.Roles {
		d.Roles[r].Minimum = len(d.Roles[r].Pending) + len(d.Roles[r].Placed)
		d.Roles[r].Eligible = t.NodesIn(domain)
	}
	found, err := guard.Search(p.Guard, s.work(), p.resync, func(stop func() bool) (*placement.Plan, error) {
		return placement.Solve(t, d, p.options(stop))
	})
	if err != nil {
		return false
	}
	for _, a := range found.Assignments {
		if _, err := t.Take(a.Node, d.Roles[a.Role].Request); err != nil {
			return false
		}
	}
	return true
}

// planNearSiblings plans a sub-job in the smallest domain around the job's other members, or around the plan of the whole job,
// in which it fits: its own plan does not see the other sub-jobs. Without such a plan, plan.found stays nil.
func (p *Planner) planNearSiblings(plan *Plan, t *placement.Topology) {
	if plan.SubJob == "" {
		return
	}
	whole := Scope{Job: plan.Job}
	var others []placement.NodeID
	for id := range p.Members(whole) {
		others = append(others, id)
	}
	if around := p.Plan(whole); len(others) == 0 && around.Found() {
		for _, a := range around.found.Assignments {
			others = append(others, a.Node)
		}
	}
	if len(others) == 0 {
		return
	}
	limit := plan.domain
	for domain := placement.DomainID(others[0]); domain != t.Root() && domain != limit; domain = t.Parent(domain) {
		if !containsAllNodes(t, domain, others) {
			continue
		}
		plan.domain = domain
		if err := p.attempt(plan, t, false); err == nil {
			return
		}
	}
	plan.domain, plan.found = limit, nil
}
