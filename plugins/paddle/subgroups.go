// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxDomainAttempts bounds how many domains are tried for a job whose sub-jobs have constraints of their own.
const maxDomainAttempts = 8

// planSubJobs replans a job in another domain as long as its sub-jobs do not fit in the domain of its plan: the plan of the
// whole job disregards their constraints.
func (c *course) planSubJobs(p *plan, t *placement.Topology) error {
	if p.sub != "" || !p.job.ContainsSubJobPolicy() || p.cast.demand.HighestTier == 0 || len(p.found.Assignments) == 0 {
		return nil
	}
	for range maxDomainAttempts {
		domain := t.Ancestor(p.found.Assignments[0].Node, p.cast.demand.HighestTier)
		if c.fitsAllSubJobs(p, t, domain) {
			return nil
		}
		p.excludedDomains = append(p.excludedDomains, domain)
		if err := c.attempt(p, t, p.future); err != nil {
			return err
		}
	}
	return errors.Join(placement.ErrNoFit, errNoDomainForSubJobs)
}

// errNoDomainForSubJobs is the error of jobs whose sub-jobs fit in no domain.
var errNoDomainForSubJobs = errors.New("no domain holds the groups of the job, each within its own limit")

// fitsAllSubJobs reports whether as many sub-jobs of each policy as must be whole fit in a domain, planned one after another.
func (c *course) fitsAllSubJobs(p *plan, t *placement.Topology, domain placement.DomainID) bool {
	mark := t.Begin()
	defer c.rollback(t, mark)
	c.useFutureIdle(p.future)
	missing := map[api.SubJobGID]int32{}
	for gid, least := range p.job.MinSubJobs {
		missing[gid] = least
	}
	for _, sub := range subJobsOf(p.job) {
		if c.reserveSubJob(p, t, domain, scope{job: p.job, sub: sub.UID}) {
			missing[sub.GID]--
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
func (c *course) reserveSubJob(p *plan, t *placement.Topology, domain placement.DomainID, s scope) bool {
	group := newCast(p.job, c.gangs[p.job.UID], c.spec(p.job), c, s.contains, nil)
	tier, err := c.highestTier(s)
	if err != nil {
		return false
	}
	d := &group.demand
	d.HighestTier, d.Colocation = tier, placement.Preferred
	for r := range d.Roles {
		d.Roles[r].Minimum = len(d.Roles[r].Pending) + len(d.Roles[r].Placed)
		d.Roles[r].Eligible = c.only(nil, domain)
	}
	found, err := guard.Search(c.guard, guard.Work{Part: metrics.PartPlan, Job: p.job.UID}, c.lost, func(stop func() bool) (*placement.Plan, error) {
		return placement.Solve(t, d, c.options(stop))
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

// subJobsOf returns the sub-jobs of a job, ordered by name.
func subJobsOf(job *api.JobInfo) []*api.SubJobInfo {
	var groups []*api.SubJobInfo
	for _, sub := range job.SubJobs {
		groups = append(groups, sub)
	}
	slices.SortFunc(groups, func(a, b *api.SubJobInfo) int { return cmp.Compare(a.UID, b.UID) })
	return groups
}

// planNearSiblings plans a sub-job in the smallest domain around the job's other members, or around the plan of the whole job, in
// which it fits: its own plan does not see the other sub-jobs. Without such a plan p.found stays nil.
func (c *course) planNearSiblings(p *plan, t *placement.Topology) {
	if p.sub == "" {
		return
	}
	whole := scope{job: p.job}
	var others []placement.NodeID
	for id := range c.members(whole) {
		others = append(others, id)
	}
	if around := c.plan(whole); len(others) == 0 && around.placed() {
		for _, a := range around.found.Assignments {
			others = append(others, a.Node)
		}
	}
	if len(others) == 0 {
		return
	}
	limit := p.domain
	for domain := placement.DomainID(others[0]); domain != t.Root() && domain != limit; domain = t.Parent(domain) {
		if !holdsAll(t, domain, others) {
			continue
		}
		p.domain = domain
		if err := c.attempt(p, t, false); err == nil {
			return
		}
	}
	p.domain, p.found = limit, nil
}
