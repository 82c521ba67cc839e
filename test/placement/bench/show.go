// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// say prints for people; that a screen takes no more is no reason to stop measuring.
func say(out io.Writer, format string, values ...any) { _, _ = fmt.Fprintf(out, format, values...) }

// ShowInstance prints one small instance, its optimum and our plan.
func ShowInstance(seed uint64, index int, noExact bool, out io.Writer) error {
	trial, err := Try(seed, index, noExact)
	in := trial.Instance
	say(out, "seed %d instance %d, exact search %v\n%s", seed, index, !noExact, in)
	say(out, "brute force: feasible %v, all members %v, %d branches\n", trial.Optimum.Feasible, trial.Optimum.Whole, trial.Optimum.Visited)
	if trial.Optimum.Whole {
		say(out, "  optimum: %.6g\n", trial.Optimum.Score)
		showPlan(out, in.Topology, in.Demand, trial.Optimum.Assignments)
	}
	if trial.Plan != nil {
		say(out, "  ours:    priced %.6g busiest %.6g, ratio %.4g, left %v, says optimal %v\n",
			trial.Plan.Cost.Priced, trial.Plan.Cost.BusiestSeconds, trial.Ratio, trial.Plan.Left, trial.Plan.Optimal)
		showPlan(out, in.Topology, in.Demand, trial.Plan.Assignments)
	} else {
		say(out, "  ours: no plan\n")
	}
	return err
}

func showPlan(out io.Writer, t *placement.Topology, d *placement.Demand, plan []placement.Assignment) {
	for r := range d.Roles {
		say(out, "    %s:", d.Roles[r].Name)
		for _, a := range plan {
			if a.Role == r {
				say(out, " %d@%s", a.Index, t.NodeName(a.Node))
			}
		}
		say(out, "\n")
	}
}

// String is a line of what matters and one for each kind that falls short.
func (o *Optimality) String() string {
	var text strings.Builder
	say(&text, "%d instances, %d feasible, %d missed, found %.4f, mean %.5f, p99 %.4f, max %.3f, optimal %.4f, 2nd cost %.4f, broken promises %d",
		o.Instances, o.Feasible, o.Missed, o.FoundShare, o.Mean, o.P99, o.Max, o.ExactShare, o.SecondMean, o.Broken)
	for _, k := range o.Kinds {
		if k.Worse > 0 {
			say(&text, "\n  %-60s %5d, missed %d, worse %d, mean %.4f, p99 %.3f; --show %d", k.Kind, k.Instances, k.Missed, k.Worse, k.Mean, k.P99, k.Smallest)
		}
	}
	return text.String()
}

// String is one line of what matters.
func (c *Comparison) String() string {
	return fmt.Sprintf("%d clusters, no plan on %d, worse than the best on %d %v, equal on %d, busiest not above there %.4f %v, fragmentation %.3f, broken promises %d %v, nearest %v",
		c.Clusters, c.NoPlan, c.Worse, first(c.WorseInstances), c.Equal, c.BusiestNotAbove, first(c.BusiestAbove), c.MeanFragmentation, len(c.Broken),
		first(c.Broken), c.Worst)
}

func first[T any](of []T) []T { return of[:min(len(of), 10)] }

// String is one line of what matters.
func (r *BaselineResult) String() string {
	return fmt.Sprintf("%-26s cost x%.3f, worse %d, equal %d, no room %d; across racks x%.2f (sums x%.2f), nodes x%.2f (x%.2f), busiest x%.2f (not above when equal %.3f), fragmentation %.3f",
		r.Name, r.CostRatio, r.Worse, r.Equal, r.Cornered, r.RackBytes, r.RackBytesSum, r.NodeBytes, r.NodeBytesSum, r.Busiest, r.BusiestNotAbove, r.Fragmentation)
}

// ShowCluster prints one loaded cluster's job and how all placed it.
func ShowCluster(seed uint64, index int, out io.Writer) error {
	duel := Fight(seed, index)
	t := duel.Cluster.Topology
	lo, hi := t.Domains(rackTier)
	say(out, "seed %d cluster %d: %d nodes, %d racks, load %.2f\n%s", seed, index, t.Nodes(), hi-lo, duel.Cluster.Load, duel.Cluster.Job())
	for _, p := range append([]*Placing{duel.Ours}, duel.Others...) {
		if p == nil || p.Cornered {
			say(out, "no plan\n")
			continue
		}
		say(out, "%s\n%s\n", p.Name, p.Cost)
		showPlan(out, t, duel.Cluster.Demand, p.Assignments)
	}
	return duel.Broken
}

// String is one line of what matters.
func (s *Speed) String() string {
	return fmt.Sprintf("%-42s %6d nodes %s: %9.3f ms = %7.2f sorts of %.3f ms; per job %.0f allocations, %.0f bytes; %d jobs cost nothing",
		s.Case, s.Nodes, s.state(), s.MS, s.Sorts, s.SortMS, s.Allocs, s.Bytes, s.Free)
}

func (s *Speed) state() string {
	if s.Warm {
		return "warm"
	}
	return "cold"
}
