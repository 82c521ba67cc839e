// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/philly"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Mix is what pods and frameworks the rows of the trace become.
type Mix string

// Mixes.
const (
	// Realistic has pods as users write them, and jobs that are not Paddle's.
	Realistic Mix = "realistic"
	// OneGPU has Paddle jobs alone, in pods of one GPU each.
	OneGPU Mix = "one-gpu"
)

// What a pod asks for, for each of its GPUs: as in test/session/quality.
var (
	server = cluster.Amounts{CPU: 8, Memory: 32}
	worker = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
	// Rank is a pod of a collective job.
	Rank = cluster.Amounts{CPU: 6, Memory: 32, GPU: 1}
)

const (
	// workersPerServer of a job with parameter servers; each has one server at least.
	workersPerServer = 4
	// mostGPUs of a pod: those of a host.
	mostGPUs = 8
)

// Shares of the realistic mix.
const (
	plainShare   = 0.5  // of the jobs of one GPU: pods without a PaddleJob.
	serviceShare = 0.05 // of the rows of 2 to 8 GPUs: replicas of one GPU, each for itself.
	nestedShare  = 0.5  // of the rings of 16 GPUs and more: language models with hybrid parallelism.
	otherShare   = 0.2  // of the other rings: gangs of another framework.
)

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
	// ModelBytes that a ring, or servers and workers, exchange in a step.
	ModelBytes float64
	// Hybrid is what a job with hybrid parallelism exchanges instead; others have no degrees.
	Hybrid flows.Hybrid
}

// Ideal returns how long the job trains if nothing slows it down.
func (j *Job) Ideal() float64 { return j.Steps * j.Compute }

// Gang reports whether the job has several pods.
func (j *Job) Gang() bool { return j.Pods() > 1 }

// request returns the request of a pod with a number of GPUs.
func request(one cluster.Amounts, gpus int) cluster.Amounts {
	n := int64(gpus)
	return cluster.Amounts{CPU: one.CPU * n, Memory: one.Memory * n, GPU: one.GPU * n}
}

// row is a row of the trace, with the seed of the job that is drawn for it.
type row struct {
	philly.Row
	seed uint64
}

// jobs that a row becomes: one, or the replicas of a service.
func (s *Settings) jobs(r row, first int, arrival float64) ([]*Job, error) {
	m, ok := models[r.Model]
	if !ok {
		return nil, fmt.Errorf("read a trace: nothing is known of the model %q", r.Model)
	}
	random := rand.New(rand.NewPCG(r.seed, 0))
	kind, form, servers := random.Float64(), random.Float64(), random.Float64()
	duration := r.Duration
	if s.Cap > 0 {
		duration = min(duration, s.Cap)
	}
	job := Job{ID: first, Arrival: arrival, GPUs: r.GPUs, Compute: r.Step, ModelBytes: m.millions * bytesPerMillion}
	name := func(id int) string { return fmt.Sprintf("job-%05d", id) }
	realistic := s.Mix == Realistic
	hasServers := m.servers
	if s.PSShare >= 0 {
		hasServers = servers < s.PSShare
	}
	switch perPod := min(r.GPUs, mostGPUs); {
	case realistic && r.GPUs > 1 && r.GPUs <= mostGPUs && kind < serviceShare:
		replicas := make([]*Job, r.GPUs)
		for i := range replicas {
			replica := job
			replica.ID, replica.GPUs, replica.Job = first+i, 1, cluster.Ring(name(first+i), 1, Rank)
			replica.Mode, replica.Steps = cluster.Other, duration/r.Step
			replicas[i] = &replica
		}
		return replicas, nil
	case !realistic && hasServers && r.GPUs > 1:
		job.Job = parameterServers(name(first), r.GPUs, 1)
	case !realistic:
		job.Job = cluster.Ring(name(first), r.GPUs, Rank)
	case r.GPUs == 1:
		job.Job = cluster.Ring(name(first), 1, Rank)
		if kind < plainShare {
			job.Mode = cluster.Other
		}
	case hasServers:
		var sizes []int
		for _, gpus := range []int{1, 2, 4} {
			if r.GPUs >= 2*gpus {
				sizes = append(sizes, gpus)
			}
		}
		job.Job = parameterServers(name(first), r.GPUs, sizes[int(form*float64(len(sizes)))])
	default:
		job.Job = cluster.Ring(name(first), r.GPUs/perPod, request(Rank, perPod))
		switch {
		case r.GPUs > mostGPUs && kind < nestedShare:
			job.nest()
		case form < otherShare:
			job.Mode = cluster.Other
		}
	}
	if job.Mode == cluster.PS {
		job.ModelBytes *= s.Sparse
	}
	job.Steps = duration / job.Compute
	return []*Job{&job}, nil
}

func parameterServers(name string, gpus, perWorker int) cluster.Job {
	workers := gpus / perWorker
	return cluster.ServersAndWorkers(name, (workers+workersPerServer-1)/workersPerServer, workers, server, request(worker, perWorker))
}
