// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"cmp"
	"sync"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// phases are all that a PaddleJob can be in, so that a phase without jobs is a 0 and not missing.
var phases = []v1.Phase{
	v1.Pending, v1.Starting, v1.Running, v1.Restarting, v1.Suspended, v1.Completed, v1.Failed, v1.Terminating,
}

// census counts PaddleJobs by phase.
type census struct {
	mu     sync.Mutex
	phase  map[string]v1.Phase
	counts map[v1.Phase]int
}

func newCensus() *census {
	for _, phase := range phases {
		jobsByPhase.WithLabelValues(string(phase)).Set(0)
	}
	return &census{phase: map[string]v1.Phase{}, counts: map[v1.Phase]int{}}
}

// see notes a job's phase, or that the job is gone. One that nobody has looked at yet is Pending.
func (c *census) see(key string, phase v1.Phase, gone bool) {
	phase = cmp.Or(phase, v1.Pending)
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, known := c.phase[key]; known {
		c.add(was, -1)
	}
	delete(c.phase, key)
	if !gone {
		c.phase[key] = phase
		c.add(phase, 1)
	}
}

func (c *census) add(phase v1.Phase, n int) {
	c.counts[phase] += n
	jobsByPhase.WithLabelValues(string(phase)).Set(float64(c.counts[phase]))
}
