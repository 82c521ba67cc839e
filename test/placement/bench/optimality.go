// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bruteforce"
	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
	"github.com/paddle-volcano/paddle-volcano/test/placement/legal"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Tolerance below which two costs are equal, relative to the larger one.
const Tolerance = 1e-9

// oracleWork bounds the branches that brute force may visit. Instances beyond it are drawn again.
const oracleWork = 100_000

// redraw is how far apart the indexes of an instance and of its replacement are.
const redraw = 1 << 40

// zeroRatio is the ratio of a plan that costs something where another costs nothing.
const zeroRatio = 2

// Trial is one small instance: the optimum against the planner.
type Trial struct {
	Instance *instances.Instance
	Optimum  bruteforce.Result
	Plan     *placement.Plan
	Missed   bool    // a plan exists and none was found, or members were left that fit
	Ratio    float64 // 0 where there are no two costs to compare
}

// Draw is the small instance of a seed and an index.
type Draw func(seed, index uint64, limits instances.Limits) *instances.Instance

// Try solves one small instance both ways. An error is a violated guarantee: a plan that does not pass Check, two runs that
// differ, another cost than it says, a claim of being optimal that is not true.
func Try(seed uint64, index int, draw Draw) (*Trial, error) {
	for redrawn := 0; ; redrawn++ {
		trial := &Trial{Instance: draw(seed, uint64(index)+uint64(redrawn)*redraw, instances.Brute)}
		err := trial.solve()
		if trial.Optimum = bruteforce.Best(trial.Instance, trial.Plan, oracleWork); !trial.Optimum.Complete {
			continue
		}
		if err == nil {
			err = trial.compare()
		}
		if err != nil {
			err = fmt.Errorf("instance %d: %w", index, err)
		}
		return trial, err
	}
}

// solve finds the planner's plan.
func (t *Trial) solve() error {
	in := t.Instance
	plan, err := placement.Solve(in.Topology, in.Demand, in.Options)
	again, errAgain := placement.Solve(in.Topology, in.Demand, in.Options)
	switch {
	case err != nil && !errors.Is(err, placement.ErrNoFit):
		return err
	case (err == nil) != (errAgain == nil) || !reflect.DeepEqual(plan, again):
		return errors.New("two runs differ")
	case plan == nil:
		return nil
	}
	t.Plan = plan
	if err := legal.Check(in.Topology, in.Demand, plan.Assignments); err != nil {
		return err
	}
	cost, err := placement.Evaluate(in.Topology, in.Demand, plan.Assignments)
	if err == nil && !reflect.DeepEqual(cost, plan.Cost) {
		err = fmt.Errorf("the plan says it costs %v, and costs %v", plan.Cost, cost)
	}
	return err
}

// compare the planner's plan, if there is one, with the optimum.
func (t *Trial) compare() error {
	whole := t.Plan != nil && len(t.Plan.Left) == 0
	t.Missed = t.Optimum.Feasible != (t.Plan != nil) || t.Optimum.Whole != whole
	if t.Missed || !whole {
		return nil
	}
	plan, optimum := bruteforce.ScoreOf(t.Instance, t.Plan.Cost), t.Optimum.Score
	t.Ratio = ratio(plan[0], optimum[0])
	if t.Plan.Optimal && optimum.Less(plan) {
		return fmt.Errorf("the plan says it is optimal and costs %v, the optimum is %v", plan, optimum)
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

// measureOptimality compares the planner with brute force on small instances.
func measureOptimality(s Settings, draw Draw, progress io.Writer) *Optimality {
	return summary(spread(s.Instances, "optimality", progress, func(i int) outcome {
		trial, err := Try(s.Seed, i, draw)
		o := outcome{feasible: trial.Optimum.Feasible, missed: trial.Missed, ratio: trial.Ratio}
		if err != nil {
			o.broken = err.Error()
		}
		return o
	}))
}

// outcome is what is kept of a trial.
type outcome struct {
	feasible, missed bool
	ratio            float64
	broken           string
}

func summary(trials []outcome) *Optimality {
	o := &Optimality{Instances: len(trials)}
	var ratios []float64
	exact := 0
	for i, t := range trials {
		if t.feasible {
			o.Feasible++
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
		switch t.ratio {
		case 0:
			continue
		case 1:
			exact++
		default:
			o.Worst = append(o.Worst, Worst{Instance: i, Ratio: t.ratio})
		}
		ratios = append(ratios, t.ratio)
	}
	o.Missed = len(o.MissedInstances)
	o.FoundShare = 1 - float64(o.Missed)/float64(max(1, o.Feasible))
	o.Compared = len(ratios)
	if len(ratios) == 0 {
		return o
	}
	o.Mean, o.P99, o.Max = stats.Mean(ratios), stats.Percentile(ratios, 99), slices.Max(ratios)
	o.ExactShare = float64(exact) / float64(len(ratios))
	slices.SortStableFunc(o.Worst, func(a, b Worst) int { return cmp.Compare(b.Ratio, a.Ratio) })
	o.Worst = o.Worst[:min(len(o.Worst), 10)]
	return o
}
