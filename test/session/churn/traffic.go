// SPDX-License-Identifier: Apache-2.0

package churn

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

var (
	machine = cluster.Amounts{CPU: 64, Memory: 512, GPU: 8}
	server  = cluster.Amounts{CPU: 8, Memory: 32}
	worker  = cluster.Amounts{CPU: 5, Memory: 32, GPU: 1}
)

// nodes are few, so that sessions are short.
const nodes = 16

func fleet() cluster.Fleet {
	return cluster.Shape{Nodes: nodes, PerRack: 4, RacksPerBlock: 2, Capacity: machine}.Fleet()
}

// traffic is jobs that come and go. No name comes twice.
type traffic struct {
	*rand.Rand
	scheduler *cluster.Scheduler
	living    []life
	names     int // that were given

	came, bound, gone int
}

// life of a job: the session after which it is deleted, whether or not it was placed.
type life struct {
	job   *cluster.Job
	until int
	runs  bool
}

// most jobs at a time; more than fit, so that some stay pending.
const most = 12

// step deletes and adds jobs before a session.
func (t *traffic) step(session int) {
	kept := t.living[:0]
	for _, l := range t.living {
		if session < l.until {
			kept = append(kept, l)
			continue
		}
		t.scheduler.Remove(l.job)
		t.gone++
	}
	clear(t.living[len(kept):])
	t.living = kept
	for len(t.living) < most && t.IntN(3) > 0 {
		job := t.draw()
		t.scheduler.AddJob(job)
		t.living = append(t.living, life{job: job, until: session + 2 + t.IntN(20)})
		t.came++
	}
}

// draw a job of servers and workers, a ring, one of others, or one that no cluster of this size holds.
func (t *traffic) draw() *cluster.Job {
	name := fmt.Sprintf("job-%06d", t.names)
	t.names++
	var job cluster.Job
	switch t.IntN(8) {
	case 0, 1, 2:
		servers := 1 + t.IntN(4)
		job = cluster.ServersAndWorkers(name, servers, servers*(2+t.IntN(4)), server, worker)
	case 3, 4, 5:
		job = cluster.Ring(name, 2+t.IntN(20), worker)
	case 6:
		job = cluster.Ring(name, 1+t.IntN(8), worker)
		job.Mode = cluster.Other
	default:
		job = t.tooLarge(name)
	}
	job.Age = -t.names
	return &job
}

// tooLarge returns a job of one more GPU than there are.
func (*traffic) tooLarge(name string) cluster.Job {
	return cluster.Ring(name, nodes*int(machine.GPU)+1, worker)
}

// afterSession lets what was bound run.
func (t *traffic) afterSession() {
	for i := range t.living {
		if l := &t.living[i]; !l.runs && t.scheduler.Placed(l.job) {
			l.runs = true
			t.bound++
			t.scheduler.Run(l.job)
		}
	}
}

// hurry adds and deletes jobs, each with one session to be placed in, until the number of bound jobs is reached. Nearly all fit,
// as later. Some never fit, so that the caches of waiting jobs fill too.
func (t *traffic) hurry(bound int) error {
	const together, never = most / 2, most / 4
	for t.bound < bound {
		for i := range together + never {
			job := t.draw()
			if i < never {
				*job = t.tooLarge(job.Name)
			}
			t.scheduler.AddJob(job)
			t.living = append(t.living, life{job: job})
			t.came++
		}
		if _, err := t.scheduler.Session(); err != nil {
			return err
		}
		t.afterSession()
		if err := t.drain(); err != nil {
			return err
		}
	}
	return nil
}

// drain deletes all jobs, runs a session without any, and waits until Volcano's cache has removed them, which it does in
// its own time.
func (t *traffic) drain() error {
	for _, l := range t.living {
		t.scheduler.Remove(l.job)
		t.gone++
	}
	clear(t.living)
	t.living = t.living[:0]
	if _, err := t.scheduler.Session(); err != nil {
		return err
	}
	for deadline := time.Now().Add(patience); t.scheduler.Jobs() > 0; {
		if time.Now().After(deadline) {
			return fmt.Errorf("the cache still knows %d jobs that went", t.scheduler.Jobs())
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// patience with Volcano's cache.
const patience = time.Minute
