// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Queues is what becomes of more jobs than fit, with stock and with the plugin, one session each.
type Queues struct {
	Clusters    int `json:"clusters"`
	Jobs        int `json:"jobs"`
	StockPlaced int `json:"stock_placed"`
	OursPlaced  int `json:"ours_placed"`
	// Ahead are the pairs of jobs of which stock places the older one, and the plugin only the younger one.
	Ahead []string `json:"ahead"`
}

// jobsPerQueue is more than fit.
const jobsPerQueue = 24

// queueLoads are played by turns.
var queueLoads = []float64{0.5, 0.7, 0.85}

// MeasureQueues plays queues of random jobs on random clusters.
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
	q := &Queues{Clusters: s.Clusters, Ahead: []string{}}
	for index := range s.Clusters {
		load := queueLoads[index%len(queueLoads)]
		// The cluster is one that has room for a small job somewhere; which one does not matter.
		scenario := Scenario{Name: "queue", Job: cluster.Ring("one", 1, worker), Load: load, RackHasRoom: true, Shape: blocks(1), others: mixed, number: queueNumber}
		in := Draw(&scenario, s.Seed, index)
		jobs := queueOf(rand.New(rand.NewPCG(s.Seed, queueNumber<<32|uint64(index))))
		placed := [2][]bool{}
		for i, scheduler := range schedulers {
			var err error
			if placed[i], err = playQueue(scheduler, in, jobs); err != nil {
				return nil, err
			}
		}
		q.count(index, jobs, placed[0], placed[1])
		if _, err := fmt.Fprintf(progress, "queues: %d of %d, load %.0f %%: %d gangs with stock, %d with the plugin, so far\n",
			index+1, s.Clusters, 100*load, q.StockPlaced, q.OursPlaced); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// queueNumber keeps what is drawn here apart from the scenarios'.
const queueNumber = 1 << 20

// queueOf is jobs of all kinds, the oldest first.
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

func playQueue(scheduler *cluster.Scheduler, in *Instance, jobs []cluster.Job) ([]bool, error) {
	scheduler.Reset()
	if err := scheduler.AddFleet(in.Fleet, in.Seed+uint64(in.Index)); err != nil {
		return nil, err
	}
	for i := range jobs {
		scheduler.AddJob(&jobs[i])
	}
	if _, err := scheduler.Session(); err != nil {
		return nil, fmt.Errorf("play queue %d of seed %d: %w", in.Index, in.Seed, err)
	}
	placed := make([]bool, len(jobs))
	for i := range jobs {
		placed[i] = scheduler.Placed(&jobs[i])
	}
	return placed, nil
}

// count one cluster. Jobs are in the order of the queue.
func (q *Queues) count(index int, jobs []cluster.Job, stock, ours []bool) {
	missed := -1
	for i := range jobs {
		q.Jobs++
		if stock[i] {
			q.StockPlaced++
		}
		if ours[i] {
			q.OursPlaced++
		}
		switch {
		case stock[i] && !ours[i] && missed < 0:
			missed = i
		case ours[i] && !stock[i] && missed >= 0:
			q.Ahead = append(q.Ahead, fmt.Sprintf("cluster %d: %s ahead of %s", index, jobs[i].Name, jobs[missed].Name))
		}
	}
}
