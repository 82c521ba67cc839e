// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Engine runs jobs in virtual time. When a job with flows starts or ends, the jobs that share links with it are simulated for some
// steps, from the phases that they were in. They keep the pace of these steps until the next job starts or ends.
type Engine struct {
	network *Network
	random  *rand.Rand
	sampler *rand.Rand
	filler  *filler
	now     float64
	// running in the order of their starts.
	running []*progress
	stale   bool
	// Frozen are samples of the jobs with flows that ran at one time, each time as likely as any other.
	Frozen  [][]Frozen
	samples int
	seen    int
	// A simulation takes this many steps of its slowest job, but at most this many events for each job and for few more.
	steps  float64
	events int
}

// Frozen is a job of a sample, and the step that the engine gave it.
type Frozen struct {
	ID   int
	Job  Job
	Step float64
}

// progress of one job: at now it has left steps to do, which take step seconds each.
type progress struct {
	*trainer
	id         int
	left, step float64
	// at is when the job ends if nothing changes.
	at float64
	// peaks are the most that it may send over each link at once.
	peaks map[int32]float64
	// group are the jobs that its step was computed with, those that share links.
	group []int
}

// The length of a simulation between two changes.
const (
	burstSteps  = 20
	burstEvents = 40
	few         = 25
)

// NewEngine begins at a time, and keeps a number of samples. The seed decides the phases in which jobs start.
func NewEngine(network *Network, now float64, seed uint64, samples int) *Engine {
	return &Engine{
		network: network, now: now, filler: newFiller(network.Widths), random: rand.New(rand.NewPCG(seed, 1)),
		samples: samples, sampler: rand.New(rand.NewPCG(seed, 2)), steps: burstSteps, events: burstEvents,
	}
}

// Start lets a job run from now on. The id is the caller's.
func (e *Engine) Start(id int, job Job, steps float64) {
	p := &progress{id: id, left: steps, step: job.Compute}
	p.trainer = &trainer{Job: job, alone: job.Compute}
	if len(job.Flows) > 0 {
		p.trainer = newTrainer(e.network.Widths, job)
		p.begin(e.random.Float64())
		p.peaks = e.network.peaks(&job)
		e.stale = true
	}
	p.step = p.alone
	p.at = e.now + p.left*p.step
	e.running = append(e.running, p)
}

// Next returns when the next job ends if none starts before; infinity if none runs.
func (e *Engine) Next() float64 {
	e.settle()
	next := math.Inf(1)
	for _, p := range e.running {
		next = min(next, p.at)
	}
	return next
}

// Advance continues to a time, at most that of Next, and returns the jobs that have finished by then, in the order of their starts.
func (e *Engine) Advance(to float64) (ended []int) {
	e.settle()
	e.running = slices.DeleteFunc(e.running, func(p *progress) bool {
		if p.at <= to {
			ended = append(ended, p.id)
			e.stale = e.stale || len(p.Flows) > 0
			return true
		}
		return false
	})
	for _, p := range e.running {
		p.left = (p.at - to) / p.step
	}
	e.now = to
	return ended
}

// Computing is the share of its time that each running job computes, by id.
func (e *Engine) Computing(each func(id int, share float64)) {
	e.settle()
	for _, p := range e.running {
		each(p.id, min(1, p.Compute/p.step))
	}
}

// Left returns how many steps a job still has to do, and whether it runs.
func (e *Engine) Left(id int) (steps float64, running bool) {
	for _, p := range e.running {
		if p.id == id {
			return p.left, true
		}
	}
	return 0, false
}

// settle computes the steps of jobs again that share links with other jobs than before.
func (e *Engine) settle() {
	if !e.stale {
		return
	}
	e.stale = false
	binding := e.binding()
	var sending []*progress
	for _, p := range e.running {
		if len(p.Flows) > 0 {
			p.bindTo(binding)
			sending = append(sending, p)
		}
	}
	for _, group := range components(sending, len(binding)) {
		ids := make([]int, len(group))
		for i, p := range group {
			ids[i] = p.id
		}
		if slices.Equal(ids, group[0].group) {
			continue
		}
		steps := e.burst(group)
		for i, p := range group {
			p.group, p.step = ids, steps[i]
			p.at = e.now + p.left*p.step
		}
	}
	e.sample(sending)
}

// burst simulates a group of jobs that share links.
func (e *Engine) burst(group []*progress) []float64 {
	if len(group) == 1 {
		return []float64{group[0].alone}
	}
	s := simulation{filler: e.filler, random: e.random}
	longest := 0.0
	for _, p := range group {
		s.trainers = append(s.trainers, p.trainer)
		longest = max(longest, p.step)
	}
	return s.run(e.steps*longest, e.events*(len(group)+few))
}

// binding reports of each link whether it can be full: NICs can, and others if what may be sent to them at once is more than they
// carry.
func (e *Engine) binding() []bool {
	most := make([]float64, len(e.network.Widths))
	for _, p := range e.running {
		for link, rate := range p.peaks {
			most[link] += rate
		}
	}
	binding := make([]bool, len(most))
	for link := range most {
		binding[link] = e.network.tiers[link] == NIC || most[link] > e.network.Widths[link]*(1+slack)
	}
	return binding
}

// peaks bounds what a job's flows send over each link at once: no more than the NICs that they come from, or go to, carry.
func (n *Network) peaks(job *Job) map[int32]float64 {
	type end struct{ link, nic int32 }
	from, to := map[int32]float64{}, map[int32]float64{}
	seen := map[end]bool{}
	add := func(sums map[int32]float64, link, nic int32) {
		if !seen[end{link, nic}] {
			seen[end{link, nic}] = true
			sums[link] += n.Widths[nic]
		}
	}
	for i := range job.Flows {
		links := job.Flows[i].Links
		for _, link := range links {
			add(from, link, links[0])
			add(to, link, links[len(links)-1])
		}
	}
	for link := range from {
		from[link] = min(from[link], to[link])
	}
	return from
}

// bindTo leaves only links that can be full on the way of the job's flows.
func (t *trainer) bindTo(binding []bool) {
	for i := range t.transfers {
		a := &t.transfers[i]
		a.links = a.links[:0:0]
		for _, link := range t.Flows[i].Links {
			if binding[link] {
				a.links = append(a.links, link)
			}
		}
	}
}

// components returns the groups of jobs of which each shares a link with another one of the group, in the order of their starts.
func components(sending []*progress, links int) (groups [][]*progress) {
	owner := make([]int, links) // 0 is none
	parent := make([]int, len(sending)+1)
	var find func(int) int
	find = func(i int) int {
		if parent[i] != i {
			parent[i] = find(parent[i])
		}
		return parent[i]
	}
	for i, p := range sending {
		parent[i+1] = i + 1
		for f := range p.transfers {
			for _, link := range p.transfers[f].links {
				if owner[link] == 0 {
					owner[link] = i + 1
				}
				a, b := find(owner[link]), find(i+1)
				parent[max(a, b)] = min(a, b)
			}
		}
	}
	at := map[int]int{}
	for i, p := range sending {
		root := find(i + 1)
		if _, ok := at[root]; !ok {
			at[root] = len(groups)
			groups = append(groups, nil)
		}
		groups[at[root]] = append(groups[at[root]], p)
	}
	return groups
}

// sample keeps the jobs that run now with the probability that each time has.
func (e *Engine) sample(sending []*progress) {
	if e.samples == 0 || len(sending) < 2 {
		return
	}
	frozen := make([]Frozen, len(sending))
	for i, p := range sending {
		frozen[i] = Frozen{ID: p.id, Job: p.Job, Step: p.step}
	}
	slices.SortFunc(frozen, func(a, b Frozen) int { return cmp.Compare(a.ID, b.ID) })
	e.seen++
	if len(e.Frozen) < e.samples {
		e.Frozen = append(e.Frozen, frozen)
	} else if at := e.sampler.IntN(e.seen); at < e.samples {
		e.Frozen[at] = frozen
	}
}

// Mean is how long a step of a job takes next to those it shares links with, and how many the simulation saw; none of a job that shares no link.
type Mean struct{ Step, Seen float64 }

// Steps returns the means of jobs while all of them run. The simulation takes this many steps of the slowest job, but at most
// this many events for each job and for few more.
func Steps(n *Network, jobs []Job, steps float64, events int, seed uint64) []Mean {
	e := NewEngine(n, 0, seed, 0)
	e.steps, e.events = steps, events
	for i, job := range jobs {
		e.Start(i, job, 1)
	}
	before := make([]float64, len(jobs))
	for i, p := range e.running {
		before[i] = p.position()
	}
	e.settle()
	means := make([]Mean, len(jobs))
	for i, p := range e.running {
		means[i] = Mean{p.step, p.position() - before[i]}
	}
	return means
}
