// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Tolerance below which two costs are equal, relative to the larger one.
const Tolerance = 1e-9

// oracleWork bounds the branches that brute force may visit. Instances beyond it are drawn again, and counted.
const oracleWork = 20_000_000

// redraw is how far apart the indexes of an instance and of its replacement are.
const redraw = 1 << 40

// zeroRatio is the ratio of a plan that costs something where another costs nothing.
const zeroRatio = 2

// Trial is one small instance: the optimum against ours.
type Trial struct {
	Instance  *instances.Instance
	Optimum   bruteforce.Result
	Plan      *placement.Plan
	Redrawn   int
	Disagrees bool    // about whether there is a plan
	Missed    bool    // a plan exists and none was found
	Ratio     float64 // 0 where there are no two costs to compare
	Second    float64 // ratio of the other cost, where the first is equal
	Optimal   bool    // claimed
}

// Try solves one small instance both ways. An error is a broken promise: a plan that does not pass Check, two runs that
// differ, a cost below the optimum, a claim of being optimal that is not true.
func Try(seed uint64, index int, noExact bool) (*Trial, error) {
	trial := &Trial{}
	for {
		trial.Instance = instances.Small(seed, uint64(index)+uint64(trial.Redrawn)*redraw)
		trial.Optimum = bruteforce.Best(trial.Instance, oracleWork)
		if trial.Optimum.Complete {
			break
		}
		trial.Redrawn++
	}
	in := trial.Instance
	in.Options.NoExact = noExact
	plan, fault := placement.Solve(in.Topology, in.Demand, in.Options)
	again, faultAgain := placement.Solve(in.Topology, in.Demand, in.Options)
	switch {
	case fault != nil && !errors.Is(fault, placement.ErrNoFit):
		return trial, fmt.Errorf("solve instance %d: %w", index, fault)
	case (fault == nil) != (faultAgain == nil) || !reflect.DeepEqual(plan, again):
		return trial, fmt.Errorf("solve instance %d: two runs differ", index)
	}
	if plan == nil {
		trial.Disagrees = trial.Optimum.Feasible
		trial.Missed = trial.Disagrees
		return trial, nil
	}
	trial.Plan = plan
	if err := placement.Check(in.Topology, in.Demand, plan); err != nil {
		return trial, fmt.Errorf("solve instance %d: %w", index, err)
	}
	trial.Disagrees = !trial.Optimum.Feasible || trial.Optimum.Whole != (len(plan.Left) == 0)
	trial.Missed = trial.Disagrees
	if trial.Disagrees || !trial.Optimum.Whole {
		return trial, nil
	}
	return trial, trial.compare(index)
}

func (t *Trial) compare(index int) error {
	in := t.Instance
	cost, err := placement.Evaluate(in.Topology, in.Demand, t.Plan.Assignments)
	if err != nil {
		return fmt.Errorf("evaluate the plan of instance %d: %w", index, err)
	}
	if !reflect.DeepEqual(cost, t.Plan.Cost) {
		return fmt.Errorf("instance %d: the plan says it costs %v, and costs %v", index, t.Plan.Cost, cost)
	}
	ours := bruteforce.Cost{Priced: cost.Priced, Busiest: cost.BusiestSeconds}
	first, second := in.Options.Objective, placement.BusiestFirst-in.Options.Objective
	t.Ratio = ratio(ours.Of(first), t.Optimum.Cost.Of(first))
	t.Optimal = t.Plan.Optimal
	switch {
	case t.Ratio < 1:
		return fmt.Errorf("instance %d: the plan costs %v, less than the optimum %v of brute force", index, ours.Of(first), t.Optimum.Cost.Of(first))
	case t.Optimal && t.Ratio > 1:
		return fmt.Errorf("instance %d: the plan says it is optimal and costs %v, the optimum is %v", index, ours.Of(first), t.Optimum.Cost.Of(first))
	case t.Ratio == 1:
		t.Second = ratio(ours.Of(second), t.Optimum.Cost.Of(second))
	}
	return nil
}

// ratio of a cost to a reference: 1 within Tolerance, and 2 where the reference is nothing and the cost is not.
func ratio(cost, reference float64) float64 {
	switch {
	case same(cost, reference):
		return 1
	case reference == 0:
		return zeroRatio
	default:
		return cost / reference
	}
}

func same(a, b float64) bool { return a == b || max(a, b)-min(a, b) <= Tolerance*max(a, b) }

// measureOptimality runs so many instances against brute force.
func measureOptimality(s Settings, noExact bool, progress io.Writer) *Optimality {
	name := "optimality"
	if noExact {
		name = "optimality_heuristic"
	}
	return summary(spread(s.Instances, s.workers(), name, progress, func(i int) outcome {
		trial, err := Try(s.Seed, i, noExact)
		o := trial.outcome()
		if err != nil {
			o.broken = err.Error()
		}
		return o
	}))
}

// outcome is what is kept of a trial.
type outcome struct {
	redrawn                                          int
	feasible, disagrees, missed, optimal, collective bool
	ratio, second                                    float64
	broken, kind                                     string
	size                                             int
}

func (t *Trial) outcome() outcome {
	return outcome{
		redrawn: t.Redrawn, feasible: t.Optimum.Feasible, disagrees: t.Disagrees, missed: t.Missed, optimal: t.Optimal,
		collective: t.Instance.Demand.Pattern == placement.Collective, ratio: t.Ratio, second: t.Second,
		kind: kindOf(t.Instance), size: t.Instance.Pods() * t.Instance.Topology.Nodes(),
	}
}

func summary(trials []outcome) *Optimality {
	o := &Optimality{Instances: len(trials)}
	var ratios, seconds []float64
	worst := make([]Worst, 0, len(trials))
	for i, t := range trials {
		o.Redrawn += t.redrawn
		o.Feasible += count(t.feasible)
		o.Disagreements += count(t.disagrees)
		o.Missed += count(t.missed)
		o.Claimed += count(t.optimal)
		if t.collective {
			o.Collective++
		}
		if t.broken != "" {
			o.Broken++
			if len(o.BrokenPromises) < 10 {
				o.BrokenPromises = append(o.BrokenPromises, t.broken)
			}
		}
		if t.missed {
			o.MissedInstances = append(o.MissedInstances, i)
		}
		if t.ratio == 0 {
			continue
		}
		ratios = append(ratios, t.ratio)
		worst = append(worst, Worst{Instance: i, Ratio: t.ratio})
		if t.ratio == 1 {
			o.Exact++
			seconds = append(seconds, t.second)
		}
	}
	o.Kinds = kinds(trials)
	o.FoundShare = 1 - float64(o.Missed)/float64(max(1, o.Feasible))
	slices.Sort(ratios)
	o.Distribution = distribution(ratios)
	o.Compared = len(ratios)
	if len(ratios) == 0 {
		return o
	}
	o.Mean, o.P99, o.Max = stats.Mean(ratios), p99(ratios), ratios[len(ratios)-1]
	o.ExactShare = float64(o.Exact) / float64(len(ratios))
	o.SecondMean = stats.Mean(seconds)
	slices.SortStableFunc(worst, func(a, b Worst) int { return descending(a.Ratio, b.Ratio) })
	worst = slices.DeleteFunc(worst, func(w Worst) bool { return w.Ratio == 1 })
	o.Worst = worst[:min(len(worst), 10)]
	return o
}
