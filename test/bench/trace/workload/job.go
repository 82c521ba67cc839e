// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// What pods ask for: as in test/session/quality.
var (
	server = cluster.Amounts{CPU: 8, Memory: 32}
	worker = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
	// Rank is a pod of a collective job.
	Rank = cluster.Amounts{CPU: 6, Memory: 32, GPU: 1}
)

// workersPerServer of a job with parameter servers; each has one server at least.
const workersPerServer = 4

// Job is one job of a run.
type Job struct {
	cluster.Job
	// ID counts the jobs in the order of their arrivals, from 0.
	ID int
	// Arrival in seconds; the window in which jobs are measured begins at 0.
	Arrival  float64
	Measured bool
	GPUs     int
	// Compute is how long a step takes where nothing is sent over the network, Steps how many there are.
	Compute, Steps float64
	ModelBytes     float64
}

// Ideal is how long the job trains if nothing slows it down.
func (j *Job) Ideal() float64 { return j.Steps * j.Compute }

// newJob makes a job of a row of the trace. A gang of g GPUs is g pods of one GPU; a job trains with servers if it has
// several GPUs and its model says so.
func newJob(id int, row philly.Row, arrival, longest float64) (*Job, error) {
	m, ok := models[row.Model]
	if !ok {
		return nil, fmt.Errorf("read a trace: nothing is known of the model %q", row.Model)
	}
	name := fmt.Sprintf("job-%05d", id)
	job := &Job{ID: id, Arrival: arrival, GPUs: row.GPUs, ModelBytes: m.millions * bytesPerMillion}
	if m.servers && row.GPUs > 1 {
		servers := (row.GPUs + workersPerServer - 1) / workersPerServer
		job.Job = cluster.ServersAndWorkers(name, servers, row.GPUs, server, worker)
	} else {
		job.Job = cluster.Ring(name, row.GPUs, Rank)
	}
	job.Compute = row.Step
	job.Steps = min(row.Duration, longest) / row.Step
	return job, nil
}
