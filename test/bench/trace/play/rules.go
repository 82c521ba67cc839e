// SPDX-License-Identifier: Apache-2.0

package play

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/opponents"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

// Rule is Play with a rule of other schedulers, in the order of Volcano's sessions.
func Rule(s *site.Site, rule opponents.Rule, drawn *workload.Drawn, seed uint64, samples int) (*Result, error) {
	p := newPlayer(s, drawn, seed, samples)
	c := opponents.New(s.Fleet, nil)
	c.Network = network{p, c}
	p.scheduler = opponents.NewQueue(c, rule)
	if err := p.play(); err != nil {
		return nil, fmt.Errorf("play by a rule: %w", err)
	}
	return p.result(), nil
}

// network is the run's, which rules may read. Steps are those of the formula, which is how far from the judge as the trace says.
type network struct {
	*player
	cluster *opponents.Cluster
}

// traffic of a job on the links of a run.
type traffic struct {
	fluid.Job
	links []float64
}

// At implements opponents.Network.
func (n network) At(job *workload.Job, at opponents.Placement) (opponents.Traffic, error) {
	placed, err := n.site.Place(job, n.cluster.Named(job, at))
	if err != nil {
		return nil, err
	}
	n.site.Leave(placed)
	return traffic{fluid.Job{Compute: job.Compute, Loads: site.Loads(placed.Flows)}, n.site.Links()}, nil
}

// Busy implements opponents.Traffic.
func (t traffic) Busy() []opponents.Busy {
	busy := make([]opponents.Busy, len(t.Loads))
	for i, load := range t.Loads {
		busy[i] = opponents.Busy{Link: load.Link, Seconds: load.Bytes / t.links[load.Link]}
	}
	return busy
}

// Steps implements opponents.Network.
func (n network) Steps(all []opponents.Traffic) []float64 {
	jobs := make([]fluid.Job, len(all))
	for i := range all {
		jobs[i] = all[i].(traffic).Job //nolint:errcheck // At returns no other
	}
	return fluid.Steps(n.site.Links(), jobs)
}

// Left implements opponents.Network.
func (n network) Left(job *workload.Job) float64 {
	if left, running := n.engine.Left(job.ID); running {
		return left
	}
	return job.Steps // it starts after the session
}

// Alone is what no scheduler can be better than: each job starts when it arrives, alone and in the best place (opponents.Alone). Each
// of its times and bytes is at most what any scheduler comes to. How many GPUs are in use is 0, as there is no cluster.
func Alone(s *site.Site, gbps site.Gbps, drawn *workload.Drawn) *Result {
	const bytesPerSecond = 1e9 / 8 // of 1 Gbps
	for tier := range gbps {
		gbps[tier] *= bytesPerSecond
	}
	p := newPlayer(s, drawn, 0, 0)
	c := opponents.New(s.Fleet, nil)
	for i, job := range drawn.Jobs {
		if !job.Measured {
			continue
		}
		least, r := c.Alone(job, gbps), &p.records[i]
		r.start, r.end = job.Arrival, job.Arrival+job.Steps*least.Step
		for tier, bytes := range least.Bytes {
			r.bytes[tier] = bytes * job.Steps
		}
	}
	return p.result()
}
