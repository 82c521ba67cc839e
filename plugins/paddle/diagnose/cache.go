// SPDX-License-Identifier: Apache-2.0

package diagnose

import (
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

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

// StartSession starts a session. Reports that the last one did not ask for are forgotten.
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
