// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"cmp"
	"errors"
	"slices"

	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// maxHouses bounds how many domains are tried for a job whose groups have limits of their own.
const maxHouses = 8

// house plans a job of groups in another domain, as long as the one of its plan does not hold the groups: the plan of the
// whole job knows nothing of their limits.
func (c *course) house(p *plan, t *placement.Topology) error {
	if p.sub != "" || !p.job.ContainsSubJobPolicy() || p.cast.demand.HighestTier == 0 || len(p.found.Assignments) == 0 {
		return nil
	}
	for range maxHouses {
		domain := t.Ancestor(p.found.Assignments[0].Node, p.cast.demand.HighestTier)
		if c.houses(p, t, domain) {
			return nil
		}
		p.avoid = append(p.avoid, domain)
		if err := c.attempt(p, t, p.future); err != nil {
			return err
		}
	}
	return errors.Join(placement.ErrNoFit, errHouses)
}

// errHouses is the error of jobs for whose groups no domain was found.
var errHouses = errors.New("no domain holds the groups of the job, each within its own limit")

// houses tells whether a domain holds as many groups of each policy as must be whole, planned one after another.
func (c *course) houses(p *plan, t *placement.Topology, domain placement.DomainID) bool {
	mark := t.Begin()
	defer c.rollback(t, mark)
	c.settleEnding(p.future)
	missing := map[api.SubJobGID]int32{}
	for gid, least := range p.job.MinSubJobs {
		missing[gid] = least
	}
	for _, sub := range groupsOf(p.job) {
		if c.takeGroup(p, t, domain, scope{job: p.job, sub: sub.UID}) {
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

// takeGroup plans a group within a domain and takes what it needs; false if it has no room there.
func (c *course) takeGroup(p *plan, t *placement.Topology, domain placement.DomainID, s scope) bool {
	group := newCast(p.job, c.gangs[p.job.UID], c.spec(p.job), c, s.has, nil)
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
	found, err := search(c.guard, workOn{metrics.PartPlan, p.job.UID}, c.lost, func(stop func() bool) (*placement.Plan, error) {
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

// groupsOf are the groups of a job, in the order of their names.
func groupsOf(job *api.JobInfo) []*api.SubJobInfo {
	var groups []*api.SubJobInfo
	for _, sub := range job.SubJobs {
		groups = append(groups, sub)
	}
	slices.SortFunc(groups, func(a, b *api.SubJobInfo) int { return cmp.Compare(a.UID, b.UID) })
	return groups
}

// near plans a group in the smallest domain around the job's other members, or around the plan of the whole job, that has
// room: a group's own plan does not see the other groups. Without such a plan p.found stays nil.
func (c *course) near(p *plan, t *placement.Topology) {
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
	limit := p.within
	for domain := placement.DomainID(others[0]); domain != t.Root() && domain != limit; domain = t.Parent(domain) {
		if !holdsAll(t, domain, others) {
			continue
		}
		p.within = domain
		if err := c.attempt(p, t, false); err == nil {
			return
		}
	}
	p.within, p.found = limit, nil
}
