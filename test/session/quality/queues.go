// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Queues is the result of queues with more jobs than fit, with stock and with the plugin, one session each.
type Queues struct {
	Clusters     int `json:"clusters"`
	Jobs         int `json:"jobs"`
	StockPlaced  int `json:"stock_placed"`
	PluginPlaced int `json:"ours_placed"`
	// PassedOver are the jobs that the plugin's session did not place though the older ones left them capacity, and
	// StockPassedOver how many stock's did not.
	PassedOver      []string `json:"passed_over"`
	StockPassedOver int      `json:"stock_passed_over"`
}

// jobsPerQueue is more than any cluster fits.
const jobsPerQueue = 24

// queueLoads are used in turn.
var queueLoads = []float64{0.5, 0.7, 0.85}

// MeasureQueues runs queues of random jobs on random clusters.
func MeasureQueues(s Settings, progress io.Writer) (*Queues, error) {
	schedulers := [2]*cluster.Scheduler{}
	for i, setup := range []cluster.Setup{cluster.Stock(), cluster.Paddle(nil)} {
		setup.Percentage = everyNode
		scheduler, err := cluster.New(setup)
		if err != nil {
			return nil, err
		}
		defer scheduler.Close()
		schedulers[i] = scheduler
	}
	q := &Queues{Clusters: s.Clusters, PassedOver: []string{}}
	for index := range s.Clusters {
		load := queueLoads[index%len(queueLoads)]
		// Any cluster with capacity for a small job will do.
		scenario := Scenario{Name: "queue", Job: cluster.Ring("one", 1, worker), Load: load, OneRackHolds: true, Shape: blocks(1), others: mixed, number: queueNumber}
		in := Draw(&scenario, s.Seed, index)
		jobs := queueOf(rand.New(rand.NewPCG(s.Seed, queueNumber<<32|uint64(index))))
		placed, over := [2]int{}, [2][]int{}
		for i, scheduler := range schedulers {
			var err error
			if placed[i], over[i], err = playQueue(scheduler, in, jobs); err != nil {
				return nil, err
			}
		}
		q.Jobs += len(jobs)
		q.StockPlaced += placed[0]
		q.PluginPlaced += placed[1]
		q.StockPassedOver += len(over[0])
		for _, i := range over[1] {
			q.PassedOver = append(q.PassedOver, fmt.Sprintf("seed %d, queue %d, %s", s.Seed, index, jobs[i].Name))
		}
		result.Say(progress, "queues: %d of %d, load %.0f %%: %d gangs with stock, %d with the plugin, so far",
			index+1, s.Clusters, 100*load, q.StockPlaced, q.PluginPlaced)
	}
	return q, nil
}

// queueNumber keeps what is drawn here apart from the scenarios'.
const queueNumber = 1 << 20

// queueOf returns jobs of all kinds, the oldest first.
func queueOf(rng *rand.Rand) []cluster.Job {
	jobs := make([]cluster.Job, jobsPerQueue)
	for i := range jobs {
		name := fmt.Sprintf("job-%02d", i)
		switch rng.IntN(3) {
		case 0:
			servers := 1 << rng.IntN(4)
			jobs[i] = cluster.ServersAndWorkers(name, servers, 4*servers, server, worker)
		case 1:
			jobs[i] = cluster.Ring(name, 2<<rng.IntN(5), ranks(1))
		default:
			gpus := int64(2) << rng.IntN(3)
			jobs[i] = cluster.Ring(name, 1+rng.IntN(8), ranks(gpus))
		}
		jobs[i].Age = 10 * (jobsPerQueue - i)
	}
	return jobs
}

// playQueue runs one session: how many jobs are placed, and which are not though they fitted at their turn.
func playQueue(scheduler *cluster.Scheduler, in *Instance, jobs []cluster.Job) (placed int, over []int, err error) {
	scheduler.Reset()
	if err := scheduler.AddFleet(in.Fleet, in.Seed+uint64(in.Index)); err != nil {
		return 0, nil, err
	}
	for i := range jobs {
		scheduler.AddJob(&jobs[i])
	}
	if _, err := scheduler.Session(); err != nil {
		return 0, nil, fmt.Errorf("play queue %d of seed %d: %w", in.Index, in.Seed, err)
	}
	left := slices.Clone(in.Fleet)
	for i := range jobs {
		if scheduler.Placed(&jobs[i]) {
			placed++
			occupy(left, &jobs[i], scheduler.Bound(&jobs[i]))
		} else if holdsJob(left, &jobs[i]) {
			over = append(over, i)
		}
	}
	return placed, over, nil
}

// occupy lets a job's pods run where they are bound.
func occupy(fleet cluster.Fleet, job *cluster.Job, bound map[string]string) {
	number := map[string]int{}
	for i := range fleet {
		number[fleet[i].Name] = i
	}
	for r := range job.Roles {
		for index := range job.Roles[r].Pods {
			node := &fleet[number[bound[job.PodName(job.Roles[r].Task, index)]]]
			node.Running = append(slices.Clone(node.Running), job.Roles[r].Request)
		}
	}
}
