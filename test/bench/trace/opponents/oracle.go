// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"cmp"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

// Oracle knows what no scheduler knows: what each job sends, how many steps it has left, and how the judge shares links. It tries
// places (those of Crux and the ones that the other rules choose), and then moves single pods as long as that helps, up to a
// number of trials. The best placement is the one with the least sum of slowdowns to come, over all jobs that run and the new one:
//
//	sum of left steps times seconds of a step by the seconds that the whole job computes
//
// A job that fits on a host goes to the fullest one that holds it. Running jobs stay where they are, a job is placed as soon as it
// fits anywhere, and jobs that have not arrived are ignored. So it is a search and no bound: Alone is the bound.
func Oracle(trials int, others ...Rule) Rule {
	return func(c *Cluster, job *workload.Job) (Placement, error) {
		candidates := places(c, job)
		if len(candidates) == 0 {
			return nil, nil
		}
		if onOneHost(candidates[0]) {
			return candidates[0], nil
		}
		for _, rule := range others {
			at, err := rule(c, job)
			if err != nil {
				return nil, err
			}
			if at != nil {
				candidates = append(candidates, at)
			}
		}
		s := &search{c: c, job: job, trials: trials}
		for _, r := range c.Running {
			s.all = append(s.all, r.Traffic)
			s.weights = append(s.weights, c.Network.Left(r.Job)/r.Job.Ideal())
		}
		s.weights = append(s.weights, 1/job.Compute)
		for _, at := range candidates {
			if _, err := s.try(at); err != nil {
				return nil, err
			}
		}
		return s.best, s.move()
	}
}

// places returns a job's placement in each domain that holds it: of the lowest level first, of each level the domain with the fewest
// GPUs left. Where servers can be together or apart, both are there.
func places(c *Cluster, job *workload.Job) (all []Placement) {
	for level := range c.tree {
		domains := slices.Clone(c.tree[level])
		slices.SortStableFunc(domains, func(a, b *domain) int { return cmp.Compare(c.sum(a).GPU, c.sum(b).GPU) })
		for _, d := range domains {
			together := pack(d, c.Free, &job.Job, false)
			if together == nil {
				continue
			}
			all = append(all, together)
			if level == host {
				return all
			}
			if apart := pack(d, c.Free, &job.Job, true); apart != nil && len(job.Roles) > 1 {
				all = append(all, apart)
			}
		}
	}
	return all
}

func onOneHost(at Placement) bool {
	for _, hosts := range at {
		for _, h := range hosts {
			if h != at[0][0] {
				return false
			}
		}
	}
	return true
}

// search for the placement with the least sum of slowdowns.
type search struct {
	c       *Cluster
	job     *workload.Job
	all     []Traffic
	weights []float64
	trials  int
	best    Placement
	least   float64
}

// try a placement. It reports whether it is the best so far.
func (s *search) try(at Placement) (better bool, err error) {
	traffic, err := s.c.Network.At(s.job, at)
	if err != nil {
		return false, err
	}
	s.trials--
	sum := 0.0
	for i, step := range s.c.Network.Steps(append(slices.Clip(s.all), traffic)) {
		weight := s.weights[i]
		if i == len(s.all) {
			weight = s.job.Steps / s.job.Ideal()
		}
		sum += weight * step
	}
	const precision = 1e-9 // that of a step
	if better = s.best == nil || sum < s.least*(1-precision); better {
		s.best, s.least = at, sum
	}
	return better, nil
}

// move single pods of the best placement to other hosts of the job, and to those of the same racks, until nothing helps.
func (s *search) move() error {
	for improved := true; improved && s.trials > 0; {
		improved = false
		for _, next := range s.moves() {
			if s.trials <= 0 {
				break
			}
			better, err := s.try(next)
			if err != nil {
				return err
			}
			if better {
				improved = true
				break
			}
		}
	}
	return nil
}

// moves returns the placements that differ from the best one in one pod.
func (s *search) moves() (all []Placement) {
	left := slices.Clone(s.c.Free)
	racks := map[string]bool{}
	for r, hosts := range s.best {
		for _, h := range hosts {
			left[h] = left[h].Minus(s.job.Roles[r].Request)
			racks[s.c.Fleet[h].Rack] = true
		}
	}
	for r, hosts := range s.best {
		for i, from := range hosts {
			if i > 0 && from == hosts[i-1] {
				continue // the same as the pod before it
			}
			for to := range left {
				if to == from || !racks[s.c.Fleet[to].Rack] || fit(left[to], s.job.Roles[r].Request) == 0 {
					continue
				}
				next := slices.Clone(s.best)
				next[r] = slices.Clone(hosts)
				next[r][i] = to
				slices.Sort(next[r])
				all = append(all, next)
			}
		}
	}
	return all
}
