// SPDX-License-Identifier: Apache-2.0

package anneal

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Options of a search. The same options give the same result.
type Options struct {
	Seed uint64
	// Starts from random placements.
	Starts int
	// Steps that are tried after each start.
	Steps int
}

// Result is the cheapest placement that was found.
type Result struct {
	// Cost is the priced bytes of a step, in model sizes.
	Cost float64
	// Bound is the node of each pod, by name.
	Bound map[string]string
}

// ErrNoStart is returned where no random placement had room for all pods.
var ErrNoStart = errors.New("annealing found no placement to start from")

// Temperatures at the end, and at the beginning of each start by turns, in cost: moving a pod to another block costs up
// to 30, and no change less than a few hundredths. What is hot forgets where it started; every other start is cooler, and
// in one random block or rack that has room, since whether a domain suits the job shows only once all of it is there.
const cold = 0.02

var hot = [...]float64{8, 4, 30, 2}

// gathering is the share of it at the start.
const gathering = 1.0

// Search anneals a job on a fleet.
func Search(fleet cluster.Fleet, job *cluster.Job, o Options) (*Result, error) {
	p := newProblem(fleet, job)
	var best *Result
	for start := range o.Starts {
		rng := rand.New(rand.NewPCG(o.Seed, uint64(start)))
		s, ok := p.start(start, rng)
		if !ok {
			continue
		}
		w := &walk{Rand: rng, state: s, hot: hot[start%len(hot)]}
		w.gather()
		if found := w.run(o.Steps); best == nil || found.Cost < best.Cost {
			best = found
		}
	}
	if best == nil {
		return nil, ErrNoStart
	}
	return best, nil
}

// Rate is how many steps a search on such a job does in a second, on one processor of this machine.
func Rate(fleet cluster.Fleet, job *cluster.Job) (float64, error) {
	const steps = 50_000
	start := time.Now()
	if _, err := Search(fleet, job, Options{Starts: 1, Steps: steps}); err != nil {
		return 0, err
	}
	return steps / time.Since(start).Seconds(), nil
}

// start is a random placement: by turns anywhere, in a block, anywhere, in a rack.
func (p *problem) start(start int, rng *rand.Rand) (*state, bool) {
	var domains [][2]int
	switch start % len(hot) {
	case 1:
		domains = p.blocks
	case 3:
		for _, rack := range p.racks {
			domains = append(domains, [2]int{rack[0], rack[len(rack)-1] + 1})
		}
	}
	for _, i := range rng.Perm(len(domains)) {
		if s, ok := p.random(rng, domains[i][0], domains[i][1]); ok {
			return s, true
		}
	}
	return p.random(rng, 0, len(p.free))
}

// random places all pods on random nodes with room, of those from lo to below hi.
func (p *problem) random(rng *rand.Rand, lo, hi int) (*state, bool) {
	const attempts = 50
	for range attempts {
		s := p.empty()
		ok := true
		for _, role := range p.shuffledPods(rng) {
			if ok = s.putSomewhere(role, rng, lo, hi); !ok {
				break
			}
		}
		if ok {
			return s, true
		}
	}
	return nil, false
}

func (p *problem) shuffledPods(rng *rand.Rand) []int {
	var roles []int
	for role, n := range p.total {
		for range n {
			roles = append(roles, role)
		}
	}
	rng.Shuffle(len(roles), func(i, j int) { roles[i], roles[j] = roles[j], roles[i] })
	return roles
}

func (s *state) putSomewhere(role int, rng *rand.Rand, lo, hi int) bool {
	first := rng.IntN(hi - lo)
	for i := range hi - lo {
		if node := lo + (first+i)%(hi-lo); s.fits(role, node) {
			s.put(role, node, 1)
			return true
		}
	}
	return false
}

// walk is one annealing.
type walk struct {
	*rand.Rand
	*state
	// pods are the nodes of the pods, by role.
	pods [][]int
	hot  float64
}

// gather lists where the pods are.
func (w *walk) gather() {
	w.pods = make([][]int, len(w.p.total))
	for node, counts := range w.count[0] {
		for role, n := range counts {
			for range n {
				w.pods[role] = append(w.pods[role], node)
			}
		}
	}
}

func (w *walk) run(steps int) *Result {
	least := w.cost()
	kept := w.copyOfPods()
	for step := range steps {
		temperature := w.hot * math.Pow(cold/w.hot, float64(step)/float64(steps))
		// What gathers ranks must not outweigh the cost in the end.
		share := gathering * temperature / w.hot
		before := w.energy(share)
		undo := w.move()
		if undo == nil {
			continue
		}
		if now := w.energy(share); now > before && w.Float64() >= math.Exp((before-now)/temperature) {
			undo()
		} else if cost := w.cost(); cost < least-1e-9 {
			least, kept = cost, w.copyOfPods()
		}
	}
	return &Result{Cost: least, Bound: w.p.names(kept)}
}

func (w *walk) copyOfPods() [][]int {
	kept := make([][]int, len(w.pods))
	for role := range w.pods {
		kept[role] = append([]int(nil), w.pods[role]...)
	}
	return kept
}
