// SPDX-License-Identifier: Apache-2.0

package play

import (
	"math"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/fluid"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Apart is how far the steps of jobs that share links are from those of a long simulation of the same jobs.
type Apart struct {
	Samples int `json:"samples"`
	// Steps are those of jobs of samples that share links with another job, and of which the simulation saw enough.
	Steps int `json:"steps"`
	// Mean is the mean of estimate by simulation, less 1; Absolute the mean of the differences' sizes, and their percentile.
	Mean       float64 `json:"mean"`
	Absolute   float64 `json:"absolute"`
	Absolute95 float64 `json:"absolute_p95"`
}

// Of a long simulation: steps of the slowest job, events for each job, and how many steps of a job are enough.
const (
	longSteps  = 50
	longEvents = 400
	enough     = 5
)

// apart compares the formula, and the simulation between two changes, with a long one, over the engine's samples.
func apart(s *site.Site, e *flows.Engine) (formula, burst *Apart) {
	if e == nil || len(e.Frozen) == 0 {
		return nil, nil
	}
	var of, between []float64
	for i, sample := range e.Frozen {
		jobs, fluids := make([]flows.Job, len(sample)), make([]fluid.Job, len(sample))
		for j := range sample {
			jobs[j] = sample[j].Job
			fluids[j] = fluid.Job{Compute: jobs[j].Compute, Loads: site.Loads(jobs[j].Flows)}
		}
		means := flows.Steps(s.Network, jobs, longSteps, longEvents, uint64(i))
		for j, step := range fluid.Steps(s.Links(), fluids) {
			if means[j].Seen >= enough {
				of, between = append(of, step/means[j].Step-1), append(between, sample[j].Step/means[j].Step-1)
			}
		}
	}
	return differences(len(e.Frozen), of), differences(len(e.Frozen), between)
}

func differences(samples int, all []float64) *Apart {
	sizes := make([]float64, len(all))
	for i := range all {
		sizes[i] = math.Abs(all[i])
	}
	return &Apart{samples, len(all), stats.Mean(all), stats.Mean(sizes), stats.Percentile(sizes, 95)}
}
