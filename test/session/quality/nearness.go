// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/session/anneal"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Search is how hard to look for something better than what the plugin found.
type Search struct {
	Seed uint64
	// PerScenario instances of each scenario.
	PerScenario int
	// Effort of the planner: its budget in multiples of the usual one.
	Effort int
	// Anneal is the time for each instance on one processor, shared by Starts random starts.
	Anneal time.Duration
	Starts int
}

// Near is one instance: what the plugin's session made of it and what a long search found. Costs are priced bytes in
// model sizes per step.
type Near struct {
	Scenario string `json:"scenario"`
	Cluster  int    `json:"cluster"`
	Placed   bool   `json:"placed"`
	// Ours is the session's placement, Planner what the planner finds with its usual budget on this package's topology,
	// Effort with many times that, Anneal the annealing's; 0 where nothing was found.
	Ours    float64 `json:"ours"`
	Planner float64 `json:"planner"`
	Effort  float64 `json:"planner_effort"`
	Anneal  float64 `json:"anneal"`
	// Ratio of ours by the best of the others.
	Ratio float64 `json:"ratio"`
	// AnnealSteps were tried in all, which took AnnealTook seconds.
	AnnealSteps int     `json:"anneal_steps"`
	AnnealTook  float64 `json:"anneal_took_s"`
}

// Nearness is all instances.
type Nearness struct {
	Instances     int     `json:"instances"`
	Effort        int     `json:"planner_effort"`
	AnnealSeconds float64 `json:"anneal_seconds"`
	AnnealStarts  int     `json:"anneal_starts"`
	// Mean and Max of the ratios; Above are the instances whose ratio is above Limit, or that were not placed.
	Mean  float64  `json:"ratio_mean"`
	Max   float64  `json:"ratio_max"`
	Limit float64  `json:"limit"`
	Above []string `json:"above_limit"`
	// AnnealWins are the instances where annealing found less than the planner with its long budget.
	AnnealWins []string `json:"anneal_wins"`
	All        []Near   `json:"all"`
}

// limit is how much dearer ours may be.
const limit = 1.02

// MeasureNearness plays the instances in sessions, one after the other, and then searches for better, as many at a time
// as there are processors.
func MeasureNearness(s Search, progress io.Writer) (*Nearness, error) {
	return nearness(Scenarios(), s, progress)
}

func nearness(scenarios []Scenario, s Search, progress io.Writer) (*Nearness, error) {
	stage, err := NewStage(cluster.Paddle(map[string]string{argument: Bytes}))
	if err != nil {
		return nil, err
	}
	defer stage.Close()
	var instances []*Instance
	var near []Near
	for index := range s.PerScenario {
		for i := range scenarios {
			in := Draw(&scenarios[i], s.Seed, index)
			outcomes, err := stage.Play(in)
			if err != nil {
				return nil, err
			}
			instances = append(instances, in)
			near = append(near, Near{Scenario: in.Name, Cluster: index, Placed: outcomes[0].Placed, Ours: outcomes[0].Cost})
		}
	}
	if err := searchAll(s, instances, near, progress); err != nil {
		return nil, err
	}
	return s.nearness(instances, near), nil
}

// searchAll shares the instances out over the processors.
func searchAll(s Search, instances []*Instance, near []Near, progress io.Writer) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	next, failed := 0, error(nil)
	for range runtime.NumCPU() {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for {
				mu.Lock()
				i := next
				next++
				stop := failed != nil || i >= len(near)
				mu.Unlock()
				if stop {
					return
				}
				err := s.search(instances[i], &near[i])
				mu.Lock()
				if err == nil {
					_, err = fmt.Fprintf(progress, "optimality: %d of %d, %s: ours %.2f, planner %.2f, with effort %d %.2f, annealing %.2f\n",
						i+1, len(near), instances[i], near[i].Ours, near[i].Planner, s.Effort, near[i].Effort, near[i].Anneal)
				}
				if err != nil && failed == nil {
					failed = err
				}
				mu.Unlock()
			}
		}()
	}
	wait.Wait()
	return failed
}

// search for something better than ours.
func (s Search) search(in *Instance, n *Near) error {
	t, err := Topology(in.Fleet)
	if err != nil {
		return err
	}
	if n.Planner, err = planned(t, in, 1); err != nil {
		return err
	}
	if n.Effort, err = planned(t, in, s.Effort); err != nil {
		return err
	}
	best := n.Effort
	rate, err := anneal.Rate(in.Fleet, &in.Job)
	if err == nil {
		options := anneal.Options{Seed: in.Seed, Starts: s.Starts, Steps: int(rate*s.Anneal.Seconds())/max(1, s.Starts) + 1}
		start := time.Now()
		if n.Anneal, err = annealed(t, in, options); err == nil {
			n.AnnealSteps, n.AnnealTook = options.Steps*options.Starts, time.Since(start).Seconds()
			best = min(best, n.Anneal)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	n.Ratio = ratio(n.Ours, best)
	return nil
}

// planned is the cost of the planner's plan.
func planned(t *placement.Topology, in *Instance, effort int) (float64, error) {
	plan, err := placement.Solve(t, Demand(&in.Job), placement.Options{Effort: effort})
	if err != nil {
		return 0, fmt.Errorf("%s, plan with effort %d: %w", in, effort, err)
	}
	return plan.Cost.Priced, nil
}

// annealed is the cost of what annealing finds, by the planner's count.
func annealed(t *placement.Topology, in *Instance, o anneal.Options) (float64, error) {
	result, err := anneal.Search(in.Fleet, &in.Job, o)
	if err != nil {
		return 0, err
	}
	plan, err := Assignments(t, &in.Job, result.Bound)
	if err != nil {
		return 0, err
	}
	outcome, err := weigh(t, in, plan)
	return outcome.Cost, err
}

// nearness sums up.
func (s Search) nearness(instances []*Instance, near []Near) *Nearness {
	n := &Nearness{
		Instances: len(near), Effort: s.Effort, AnnealSeconds: s.Anneal.Seconds(), AnnealStarts: s.Starts,
		Limit: limit, Above: []string{}, AnnealWins: []string{}, All: near,
	}
	sum, placed := 0.0, 0
	for i := range near {
		if near[i].Anneal < near[i].Effort*(1-rounding) {
			n.AnnealWins = append(n.AnnealWins, instances[i].String())
		}
		if !near[i].Placed || near[i].Ratio > limit {
			n.Above = append(n.Above, instances[i].String())
		}
		if near[i].Placed {
			placed++
			sum += near[i].Ratio
			n.Max = max(n.Max, near[i].Ratio)
		}
	}
	n.Mean = sum / float64(max(1, placed))
	return n
}
