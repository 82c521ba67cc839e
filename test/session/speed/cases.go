// SPDX-License-Identifier: Apache-2.0

package speed

import (
	"fmt"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Case is a number of jobs that are created at once.
type Case struct {
	Nodes, Pods, Gang int
	// Mode says what the jobs are.
	Mode string
	// jobs draws them.
	jobs func(c Case) []*cluster.Job
}

// Modes of cases.
const (
	modeMixed = "PS and collective by turns"
	modePS    = "PS 1:8"
	modeOther = "not Paddle's"
)

// Cases returns the clusters that `make bench-session` measures. A gang of 20 is 4 servers and 16 workers, in turn with 20 ranks. One
// of 8 is 2 servers and 6 workers, or 8 ranks. One of 1,024 is 114 servers and 910 workers.
func Cases() []Case {
	return []Case{
		{Nodes: 1000, Pods: 2000, Gang: 20, Mode: modeMixed, jobs: mixed},
		{Nodes: 5000, Pods: 8000, Gang: 8, Mode: modeMixed, jobs: mixed},
		{Nodes: 5000, Pods: 4096, Gang: 1024, Mode: modePS, jobs: servers},
	}
}

// others returns the case that measures what the plugin costs jobs which it does not place.
func others() Case {
	return Case{Nodes: 1000, Pods: 120, Gang: 12, Mode: modeOther, jobs: plain}
}

var (
	machine = cluster.Amounts{CPU: 64, Memory: 512, GPU: 8}
	server  = cluster.Amounts{CPU: 8, Memory: 32}
	worker  = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
)

// name of job i; a younger job has a greater number.
func name(i int) string { return fmt.Sprintf("job-%05d", i) }

func aged(job cluster.Job, i int) *cluster.Job {
	job.Age = -i
	return &job
}

func mixed(c Case) []*cluster.Job {
	var jobs []*cluster.Job
	for i := range c.Pods / c.Gang {
		held := max(1, c.Gang/5)
		if i%2 == 0 {
			jobs = append(jobs, aged(cluster.ServersAndWorkers(name(i), held, c.Gang-held, server, worker), i))
		} else {
			jobs = append(jobs, aged(cluster.Ring(name(i), c.Gang, worker), i))
		}
	}
	return jobs
}

func servers(c Case) []*cluster.Job {
	var jobs []*cluster.Job
	for i := range c.Pods / c.Gang {
		held := (c.Gang + 8) / 9
		jobs = append(jobs, aged(cluster.ServersAndWorkers(name(i), held, c.Gang-held, server, worker), i))
	}
	return jobs
}

func plain(c Case) []*cluster.Job {
	var jobs []*cluster.Job
	for i := range c.Pods / c.Gang {
		job := cluster.Ring(name(i), c.Gang, worker)
		job.Mode = cluster.Other
		jobs = append(jobs, aged(job, i))
	}
	return jobs
}

// perRack and perBlock are the sizes of racks (in nodes) and blocks (in racks).
const (
	perRack  = 32
	perBlock = 16
)

// fleet returns nodes of which others hold 0 to 6 of 8 GPUs.
func (c Case) fleet(seed uint64) cluster.Fleet {
	rng := rand.New(rand.NewPCG(seed, uint64(c.Nodes)))
	fleet := cluster.Shape{Nodes: c.Nodes, PerRack: perRack, RacksPerBlock: perBlock, Capacity: machine}.Fleet()
	for i := range fleet {
		if gpus := rng.Int64N(7); gpus > 0 {
			fleet[i].Running = []cluster.Amounts{{CPU: (4 + rng.Int64N(4)) * gpus, Memory: 32 * gpus, GPU: gpus}}
		}
	}
	return fleet
}
