// SPDX-License-Identifier: Apache-2.0

package anneal

import (
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// tiers are node, rack and block; prices are what a byte across the border of one costs. A node is one island of GPUs, so
// what a rank sends out of its node leaves its island too, at another quarter; servers have no GPUs, and no islands count.
const tiers = 3

var (
	prices     = [tiers]float64{1, 4, 16}
	ringPrices = [tiers]float64{1.25, 4, 16}
)

// problem is a job on what a fleet has free.
type problem struct {
	job   *cluster.Job
	fleet cluster.Fleet
	free  []cluster.Amounts
	// up is the domain of each node at each tier, numbered from 0 within the tier.
	up      [][tiers]int
	domains [tiers]int
	// racks are the nodes of each rack, blocks the first node of each block and the one after its last.
	racks  [][]int
	blocks [][2]int
	ring   bool
	price  [tiers]float64
	// total is the pods of each role.
	total []int
	// unit is the bytes of one border of a ring.
	unit float64
}

func newProblem(fleet cluster.Fleet, job *cluster.Job) *problem {
	p := &problem{job: job, fleet: fleet, ring: job.Mode == cluster.Collective, up: make([][tiers]int, len(fleet))}
	p.domains[0] = len(fleet)
	if p.price = prices; p.ring {
		p.price = ringPrices
	}
	for i := range fleet {
		p.free = append(p.free, fleet[i].Free())
		if i == 0 || fleet[i].Rack != fleet[i-1].Rack {
			p.domains[1]++
			p.racks = append(p.racks, nil)
		}
		if i == 0 || fleet[i].Block != fleet[i-1].Block {
			p.domains[2]++
			p.blocks = append(p.blocks, [2]int{i, i})
		}
		p.blocks[p.domains[2]-1][1] = i + 1
		p.up[i] = [tiers]int{i, p.domains[1] - 1, p.domains[2] - 1}
		p.racks[p.domains[1]-1] = append(p.racks[p.domains[1]-1], i)
	}
	for i := range job.Roles {
		p.total = append(p.total, job.Roles[i].Pods)
	}
	if ranks := float64(job.Demand().GPU); p.ring && ranks > 0 {
		p.unit = 2 * (ranks - 1) / ranks
	}
	return p
}

// state is a placement: pods by role and node, their sums by tier and domain, and what each node has left.
type state struct {
	p     *problem
	left  []cluster.Amounts
	count [tiers][][]int // by tier, domain and role
	used  [tiers]int     // domains that hold pods
	// near is, by tier, what servers and workers share, or how tightly ranks are packed.
	near [tiers]float64
}

func (p *problem) empty() *state {
	s := &state{p: p, left: append([]cluster.Amounts(nil), p.free...)}
	for tier := range tiers {
		s.count[tier] = make([][]int, p.domains[tier])
		for d := range s.count[tier] {
			s.count[tier][d] = make([]int, len(p.total))
		}
	}
	return s
}

// put adds n pods of a role to a node, or takes them off if n is below 0. Room is the caller's care.
func (s *state) put(role, node, n int) {
	request := s.p.job.Roles[role].Request
	k := int64(n)
	s.left[node] = s.left[node].Minus(cluster.Amounts{CPU: request.CPU * k, Memory: request.Memory * k, GPU: request.GPU * k})
	for tier := range tiers {
		count := s.count[tier][s.p.up[node][tier]]
		before := s.share(count)
		was := occupied(count)
		count[role] += n
		s.near[tier] += s.share(count) - before
		if now := occupied(count); now != was {
			if now {
				s.used[tier]++
			} else {
				s.used[tier]--
			}
		}
	}
}

func occupied(count []int) bool {
	for _, n := range count {
		if n > 0 {
			return true
		}
	}
	return false
}

// share is what one domain adds to near: p w of servers and workers, n n of ranks.
func (s *state) share(count []int) float64 {
	if s.p.ring {
		return float64(count[0] * count[0])
	}
	return float64(count[0] * count[1])
}

// cost is the priced bytes of a step, in model sizes:
//
//	servers and workers   X = 2 (W - sum over domains of p w / P)
//	ring                  X = 2 (N-1)/N for every domain of those that hold ranks, if that is not one alone
func (s *state) cost() float64 {
	sum := 0.0
	for tier := range tiers {
		if s.p.ring {
			if s.used[tier] > 1 {
				sum += s.p.price[tier] * s.p.unit * float64(s.used[tier])
			}
			continue
		}
		servers, workers := float64(s.p.total[0]), float64(s.p.total[1])
		sum += s.p.price[tier] * 2 * (workers - s.near[tier]/servers)
	}
	return sum
}

// energy is what annealing lowers: the cost, and for a ring a share of something that falls as ranks gather. The cost
// alone does not change before a domain is empty.
func (s *state) energy(share float64) float64 {
	energy := s.cost()
	if s.p.ring {
		for tier := range tiers {
			energy -= share * s.p.price[tier] * s.near[tier] / float64(s.p.total[0])
		}
	}
	return energy
}

// fits is whether a node has room for one more pod of a role.
func (s *state) fits(role, node int) bool { return s.left[node].Holds(s.p.job.Roles[role].Request) }
