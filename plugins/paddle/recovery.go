// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"k8s.io/klog/v2"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/guard"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/planner/preferences"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// newGuard returns a guard whose failures are counted by the plugin's metrics.
func newGuard() *guard.Guard {
	return guard.New(guard.Metrics{
		Panicked: metrics.CountPanic,
		Stopped:  func() { metrics.CountStoppedSearch(metrics.SearchStopped) },
		Abandoned: func() {
			metrics.CountStoppedSearch(metrics.SearchAbandoned)
			metrics.AddAbandonedSearches(1)
		},
		Ended: func() { metrics.AddAbandonedSearches(-1) },
	})
}

// guarded runs what writes about a job. A panic ends it and nothing else.
func (p *plugin) guarded(job *api.JobInfo, work func()) {
	of := guard.Work{Part: metrics.PartText, Job: job.UID}
	if p.guard.BackedOff(of) != nil {
		return
	}
	_ = p.guard.Run(of, func() error { // it is logged and counted
		work()
		return nil
	})
}

// lost replaces a topology that a failed search has left in no known state, or still uses, and discards what was found out
// in it. The new one is read at once. The same nodes get the same numbers in it.
func (c *course) lost() {
	c.network = c.newNetwork()
	c.followed = false
	c.preferences = preferences.New(c.ssn)
	c.feasibility = nil
	clear(c.plans)
	if _, err := c.topology(); err != nil {
		klog.ErrorS(err, "Failed to read the network again")
	}
}

// rollback undoes the changes in a topology, unless it was lost.
func (c *course) rollback(t *placement.Topology, mark int) {
	if c.network.Topology() == t {
		t.Rollback(mark)
	}
}
