// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	corev1 "k8s.io/api/core/v1"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// FromPlanner returns the planner's diagnosis as a report. Its amounts are those of the resources of a topology: CPU in
// thousandths, memory in bytes. label returns what users call a tier.
func FromPlanner(d *placement.Diagnosis, label func(tier int) string) report.Report {
	r := report.Report{Reason: reasonOf(d), Missing: &report.Missing{}}
	if d.Plan != nil {
		return r
	}
	for i := range d.Roles {
		if role := &d.Roles[i]; role.Missing > 0 {
			r.Missing.Roles = append(r.Missing.Roles, report.Role{Role: role.Name, Minimum: role.Minimum, Missing: role.Missing})
		}
	}
	for i := range d.Suggestions {
		r.Suggestions = append(r.Suggestions, suggestionOf(d, &d.Suggestions[i], label))
	}
	setCause(&r, d)
	if d.Limited {
		r.Cause = report.Limited(r.Cause, label(d.Domain.Tier))
	}
	return r
}

func setCause(r *report.Report, d *placement.Diagnosis) {
	b := &d.Blocker
	need, where := &d.Roles[b.Role], report.Place(d.Domain.TierName, d.Domain.Name)
	role := need.Name
	short := report.Shortage{Name: corev1.ResourceName(b.Resource), Available: volcanoAmount(b.Resource, b.Free), Requested: volcanoAmount(b.Resource, b.Needed)}
	switch b.Kind {
	case placement.Insufficient:
		who := "the " + role + " needs"
		if n := need.Minimum - need.Running; n > 1 {
			who = "the " + report.Plural(n, role) + " need"
		}
		r.Cause = short.Sentence(where, who)
	case placement.NoNode:
		node := report.Place("node", b.Node)
		if d.Limited {
			node += " of " + where
		}
		one := "one "
		if d.Domain.Fits[b.Role] > 0 {
			one = "one more "
		}
		r.Cause = short.Sentence(node+", which comes closest,", one+role+" needs")
	case placement.NotEligible:
		r.Cause = report.NotEligible(b.Eligible, b.Nodes, where, role)
	case placement.NoServerNearby:
		r.Cause = report.NoServer(role, b.TierName)
	case placement.RunningApart:
		r.Cause = report.RunningApart(d.Domain.TierName)
	case placement.NotFound:
		r.Cause = report.NotFound(where)
	}
	if short.Name == "" || short.Name == corev1.ResourcePods {
		return
	}
	r.Missing.Resources = []report.Resource{short.Resource()}
	if len(r.Suggestions) == 0 {
		r.Suggestions = []report.Suggestion{report.Suggest(report.LowerRequest, short.Resource().Available+" of "+b.Resource)}
	}
}

func suggestionOf(d *placement.Diagnosis, s *placement.Suggestion, label func(tier int) string) report.Suggestion {
	switch s.Change {
	case placement.HigherTier, placement.BothLimits:
		tier := ""
		if s.HighestTier > 0 {
			tier = label(s.HighestTier)
		}
		return report.SuggestTier(tier, s.Change == placement.BothLimits)
	case placement.PreferColocation:
		return report.Suggest(report.AllowColocationPreferred, "")
	case placement.FewerMembers:
		return report.SuggestFewer(d.Roles[s.Role].Name, s.Minimum)
	}
	amounts, nodes := map[corev1.ResourceName]float64{}, make([]string, 0, len(s.Increases))
	for _, more := range s.Increases {
		nodes = append(nodes, more.Name)
		for r, amount := range more.Amounts {
			if amount > 0 {
				amounts[corev1.ResourceName(d.Resources[r])] += volcanoAmount(d.Resources[r], amount)
			}
		}
	}
	return report.SuggestMore(d.Domain.TierName, d.Domain.Name, amounts, nodes)
}

// volcanoAmount converts an amount of the planner, which counts CPU in thousandths and storage in bytes, to Volcano's.
func volcanoAmount(resource string, amount int64) float64 {
	switch corev1.ResourceName(resource) {
	case corev1.ResourceCPU, corev1.ResourceMemory:
		return float64(amount)
	}
	return 1000 * float64(amount)
}

// reasonOf returns the limit that a change would lift, if the first suggestion is one, else what is in the way.
func reasonOf(d *placement.Diagnosis) report.Reason {
	if d.Plan != nil {
		return report.AssignmentOutdated
	}
	switch d.Blocker.Kind { //nolint:exhaustive // of the others, the first suggestion decides
	case placement.RunningApart:
		return report.TopologyConstraint
	case placement.NoServerNearby:
		return report.ColocationConstraint
	case placement.NotFound:
		return report.AssignmentNotFound
	}
	if len(d.Suggestions) > 0 {
		switch d.Suggestions[0].Change { //nolint:exhaustive // the others lift no limit
		case placement.HigherTier, placement.BothLimits:
			return report.TopologyConstraint
		case placement.PreferColocation:
			return report.ColocationConstraint
		}
	}
	if d.Blocker.Kind == placement.NotEligible && d.Limited {
		return report.TopologyConstraint
	}
	return report.InsufficientResources
}

// maxDiagnosed is how many jobs are diagnosed in one session. The planner searches for changes that help, and must not spend
// more time on jobs that wait than on jobs that start.
const maxDiagnosed = 8

// Cache keeps the reports on jobs that do not fit, from session to session.
type Cache struct {
	// Limit is how many jobs are diagnosed in one session. The others keep their last report.
	Limit         int
	session       int
	last, current map[api.JobID]entry
	diagnosed     int // in this session
}

type entry struct {
	report  report.Report
	session int
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{Limit: maxDiagnosed, last: map[api.JobID]entry{}, current: map[api.JobID]entry{}}
}

// StartSession starts a session. Reports that were not requested in the last one are discarded.
func (c *Cache) StartSession() {
	c.session++
	c.last, c.current, c.diagnosed = c.current, map[api.JobID]entry{}, 0
}

// Get returns the report on a job, and false if there is none. It calls diagnose if the job has no report or if its turn has
// come: jobs take turns, so that all reports are equally recent.
func (c *Cache) Get(job api.JobID, diagnose func() (report.Report, error)) (report.Report, bool) {
	if found, ok := c.current[job]; ok {
		return found.report, true
	}
	found, ok := c.last[job]
	age := c.session - found.session
	if c.diagnosed < c.Limit && (!ok || age*c.Limit >= len(c.last)) {
		c.diagnosed++
		if r, err := diagnose(); err == nil {
			found, ok = entry{report: r, session: c.session}, true
		}
	}
	if ok {
		c.current[job] = found
	}
	return found.report, ok
}
