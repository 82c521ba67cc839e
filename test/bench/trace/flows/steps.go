// SPDX-License-Identifier: Apache-2.0

package flows

import (
	"math"
	"math/rand/v2"
)

// jitter is how much the time that a step computes varies, evenly to both sides. Without it jobs of equal steps would meet in the
// same phase forever.
const jitter = 0.1

// trainer is a job in a phase of its step.
type trainer struct {
	Job
	transfers []transfer
	// compute is how long this step computes in all, computing what is left of it. At 0 the job sends.
	compute, computing float64
	steps              int
	// alone is how long a step takes if no other job sends.
	alone float64
}

// transfer is a flow while it is under way.
type transfer struct {
	links              []int32
	count, bytes, left float64
	rate               float64
}

func newTrainer(widths []float64, job Job) *trainer {
	t := &trainer{Job: job}
	for i := range job.Flows {
		f := &job.Flows[i]
		t.transfers = append(t.transfers, transfer{links: f.Links, count: f.Count, bytes: f.Bytes})
	}
	t.send()
	alone := simulation{filler: newFiller(widths), trainers: []*trainer{t}, random: rand.New(rand.NewPCG(0, 0))}
	t.alone = job.Compute
	for t.steps == 0 {
		t.alone += alone.next(math.Inf(1))
	}
	return t
}

// begin puts the trainer at a part of its step, from 0 to 1, as if it were alone.
func (t *trainer) begin(part float64) {
	t.compute, t.computing = t.Compute, t.Compute-part*t.alone
	if t.computing <= 0 {
		sent := min(1, -t.computing/max(t.alone-t.Compute, math.SmallestNonzeroFloat64))
		t.send()
		for i := range t.transfers {
			t.transfers[i].left *= max(1-sent, finished)
		}
	}
}

func (t *trainer) send() {
	t.computing = 0
	for i := range t.transfers {
		t.transfers[i].left = t.transfers[i].bytes
	}
}

// position returns how many steps the trainer has done, parts included: of the sending, the part that the last flow has done.
func (t *trainer) position() float64 {
	computed, sent := 1.0, 0.0
	if t.computing > 0 {
		computed = 1 - t.computing/t.compute
	} else {
		left := 0.0
		for i := range t.transfers {
			left = max(left, t.transfers[i].left/t.transfers[i].bytes)
		}
		sent = 1 - left
	}
	return float64(t.steps) + (t.Compute*computed+(t.alone-t.Compute)*sent)/t.alone
}

// simulation of trainers that share links, flow by flow.
type simulation struct {
	*filler
	trainers []*trainer
	random   *rand.Rand
	active   []*transfer
	// shared says that active and its rates are those of the present phases.
	shared bool
}

const (
	// finished is the part of the time that a step computes that counts as nothing.
	finished = 1e-9
	// grain is the same of a flow's bytes: flows that end at almost the same time are one event.
	grain = 0.01
)

// next continues until a trainer begins to send or a flow ends, but at most for some seconds, and returns how many passed.
func (s *simulation) next(most float64) float64 {
	if !s.shared {
		s.share()
	}
	pass := most
	for _, t := range s.trainers {
		if t.computing > 0 {
			pass = min(pass, t.computing)
		}
	}
	for _, a := range s.active {
		pass = min(pass, a.left/a.rate)
	}
	for _, a := range s.active {
		if a.left -= a.rate * pass; a.left <= grain*a.bytes {
			a.left, s.shared = 0, false
		}
	}
	for _, t := range s.trainers {
		switch {
		case t.computing > 0:
			if t.computing -= pass; t.computing <= finished*t.compute {
				t.send()
				s.shared = false
			}
		case !s.shared && t.sent():
			t.steps++
			t.compute = t.Compute * (1 + jitter*(2*s.random.Float64()-1))
			if t.computing = t.compute; t.computing <= 0 {
				t.send()
			}
		}
	}
	return pass
}

func (t *trainer) sent() bool {
	for i := range t.transfers {
		if t.transfers[i].left > 0 {
			return false
		}
	}
	return true
}

// share computes the rates of all active flows.
func (s *simulation) share() {
	s.active = s.active[:0]
	for _, t := range s.trainers {
		for i := range t.transfers {
			if t.computing <= 0 && t.transfers[i].left > 0 {
				s.active = append(s.active, &t.transfers[i])
			}
		}
	}
	s.rates(s.active)
	s.shared = true
}

// run continues for a number of seconds, or events, and returns how long a step of each trainer took meanwhile.
func (s *simulation) run(seconds float64, events int) []float64 {
	before, passed := make([]float64, len(s.trainers)), 0.0
	for i, t := range s.trainers {
		before[i] = t.position()
	}
	for ; passed < seconds && events > 0; events-- {
		passed += s.next(seconds - passed)
	}
	steps := make([]float64, len(s.trainers))
	for i, t := range s.trainers {
		steps[i] = passed / (t.position() - before[i])
	}
	return steps
}
