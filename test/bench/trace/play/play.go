// SPDX-License-Identifier: Apache-2.0

// Package play runs drawn jobs on a site in virtual time, placed by Volcano's own scheduler: its cache, actions and plugins,
// in this process. What the figures are compared with is not decided here.
package play

import (
	"fmt"
	"math"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/flows"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/site"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// scheduler is who places the jobs of a run.
type scheduler interface {
	// Add puts a job into the queue, Remove takes it away.
	Add(job *workload.Job)
	Remove(job *workload.Job)
	// Session places whole jobs. Bound is the node of each pod of a placed job, by the pod's name.
	Session() error
	Bound(job *workload.Job) map[string]string
}

// player is one run while it is under way.
type player struct {
	site      *site.Site
	scheduler scheduler
	engine    *flows.Engine
	drawn     *workload.Drawn
	// measured is until when GPU-seconds are added up; held and computing are the sums within the window.
	measured, held, computing float64
	// arrived is how many jobs have; waiting are those of them that have no nodes yet, in that order.
	arrived  int
	waiting  []*workload.Job
	placed   map[int]*site.Placed
	records  []record
	sessions int
	// session is when the scheduler runs next; infinity if nothing has changed since it last did.
	session float64
	unended int // measured jobs
}

// record of one job, in seconds.
type record struct {
	job        *workload.Job
	start, end float64
	bytes      [site.Tiers]float64 // of all of its steps
}

// Play runs the drawn jobs until every measured one has finished, placed by Volcano with a set-up. One run at a time in a process:
// Volcano keeps state in variables of its packages. The formula of package fluid is compared with the flows of a number of samples.
func Play(s *site.Site, setup cluster.Setup, drawn *workload.Drawn, seed uint64, samples int) (*Result, error) {
	tieBreak{seed}.register()
	scheduler, err := cluster.New(withTieBreak(setup))
	if err != nil {
		return nil, err
	}
	defer scheduler.Close()
	if err := scheduler.AddFleet(s.Fleet, seed); err != nil {
		return nil, err
	}
	p := newPlayer(s, drawn, seed, samples)
	p.scheduler = volcano{scheduler}
	if err := p.play(); err != nil {
		return nil, fmt.Errorf("play with set-up %s: %w", setup.Name, err)
	}
	return p.result(), nil
}

// volcano is Volcano's scheduler.
type volcano struct{ *cluster.Scheduler }

func (v volcano) Add(job *workload.Job)                     { v.AddJob(&job.Job) }
func (v volcano) Remove(job *workload.Job)                  { v.Scheduler.Remove(&job.Job) }
func (v volcano) Bound(job *workload.Job) map[string]string { return v.Scheduler.Bound(&job.Job) }

// Session runs one scheduling cycle.
func (v volcano) Session() error {
	_, err := v.Scheduler.Session()
	return err
}

func newPlayer(s *site.Site, drawn *workload.Drawn, seed uint64, samples int) *player {
	p := &player{site: s, drawn: drawn, placed: map[int]*site.Placed{}, session: math.Inf(1)}
	for _, job := range drawn.Jobs {
		p.records = append(p.records, record{job: job})
		if job.Measured {
			p.unended++
		}
	}
	if len(drawn.Jobs) > 0 {
		p.engine = flows.NewEngine(s.Network, drawn.Jobs[0].Arrival, seed, samples)
	}
	return p
}

func (p *player) play() error {
	for p.unended > 0 {
		if err := p.next(); err != nil {
			return err
		}
	}
	return nil
}

// next continues to the next event. The scheduler runs on full seconds (its schedule period is one second), after what
// happens in the same instant, and only where something has changed.
func (p *player) next() error {
	at := min(p.arrival(), p.engine.Next(), p.session)
	if math.IsInf(at, 1) {
		return fmt.Errorf("%d jobs wait forever: nothing runs, and nothing else arrives", len(p.waiting))
	}
	p.measure(at)
	changed := false
	for _, id := range p.engine.Advance(at) {
		p.leave(id, at)
		changed = true
	}
	for p.arrival() <= at {
		p.arrive()
		changed = true
	}
	switch {
	case changed:
		p.session = min(p.session, math.Ceil(at))
	case p.session <= at:
		return p.schedule(at)
	}
	return nil
}

// measure adds up, within the window, the GPU-seconds that jobs have held, and computed in, since the last time.
func (p *player) measure(until float64) {
	seconds := min(until, p.drawn.Window) - p.measured
	if seconds <= 0 {
		return
	}
	p.measured += seconds
	p.engine.Computing(func(id int, share float64) {
		held := seconds * float64(p.drawn.Jobs[id].GPUs)
		p.held += held
		p.computing += held * share
	})
}

// arrival returns when the next job arrives.
func (p *player) arrival() float64 {
	if p.arrived == len(p.drawn.Jobs) {
		return math.Inf(1)
	}
	return p.drawn.Jobs[p.arrived].Arrival
}

func (p *player) arrive() {
	job := p.drawn.Jobs[p.arrived]
	job.Age = -int(math.Floor(job.Arrival))
	p.scheduler.Add(job)
	p.waiting = append(p.waiting, job)
	p.arrived++
}

func (p *player) leave(id int, at float64) {
	job := p.drawn.Jobs[id]
	p.scheduler.Remove(job)
	p.site.Leave(p.placed[id])
	delete(p.placed, id)
	p.records[id].end = at
	if job.Measured {
		p.unended--
	}
}

// schedule runs one session; the jobs that it has bound start at once.
func (p *player) schedule(at float64) error {
	p.session = math.Inf(1)
	if len(p.waiting) == 0 {
		return nil
	}
	if err := p.scheduler.Session(); err != nil {
		return err
	}
	p.sessions++
	waiting, before := p.waiting[:0], len(p.waiting)
	for _, job := range p.waiting {
		bound := p.scheduler.Bound(job)
		switch len(bound) {
		case 0:
			waiting = append(waiting, job)
		case job.Pods():
			if err := p.start(job, bound, at); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%d of %d pods of job %s are bound", len(bound), job.Pods(), job.Name)
		}
	}
	p.waiting = waiting
	if len(waiting) > 0 && len(waiting) < before {
		p.session = at + 1 // what was placed is Running from the next session on, which leaves more to enqueue
	}
	return nil
}

func (p *player) start(job *workload.Job, bound map[string]string, at float64) error {
	placed, err := p.site.Place(job, bound)
	if err != nil {
		return err
	}
	if v, ok := p.scheduler.(volcano); ok {
		v.Run(&job.Job) // as kubelets do
	}
	p.placed[job.ID] = placed
	p.engine.Start(job.ID, flows.Job{Compute: job.Compute, Flows: placed.Flows}, job.Steps)
	r := &p.records[job.ID]
	r.start = at
	for tier, bytes := range placed.Bytes {
		r.bytes[tier] = bytes * job.Steps
	}
	return nil
}
