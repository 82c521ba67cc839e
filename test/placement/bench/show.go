// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// ShowInstance prints one small instance, its optimum and our plan.
func ShowInstance(seed uint64, index int, noExact bool, out io.Writer) error {
	trial, err := Try(seed, index, noExact)
	in := trial.Instance
	fmt.Fprintf(out, "seed %d instance %d, exact search %v\n%s", seed, index, !noExact, in)
	fmt.Fprintf(out, "brute force: feasible %v, all members %v, %d branches\n", trial.Optimum.Feasible, trial.Optimum.Whole, trial.Optimum.Visited)
	if trial.Optimum.Whole {
		fmt.Fprintf(out, "  optimum: priced %.6g busiest %.6g\n", trial.Optimum.Cost.Priced, trial.Optimum.Cost.Busiest)
		showPlan(out, in.Topology, in.Demand, trial.Optimum.Assignments)
	}
	if trial.Plan != nil {
		fmt.Fprintf(out, "  ours:    priced %.6g busiest %.6g, ratio %.4g, left %v, says optimal %v\n",
			trial.Plan.Cost.Priced, trial.Plan.Cost.BusiestSeconds, trial.Ratio, trial.Plan.Left, trial.Plan.Optimal)
		showPlan(out, in.Topology, in.Demand, trial.Plan.Assignments)
	} else {
		fmt.Fprintln(out, "  ours: no plan")
	}
	return err
}

func showPlan(out io.Writer, t *placement.Topology, d *placement.Demand, plan []placement.Assignment) {
	for r := range d.Roles {
		fmt.Fprintf(out, "    %s:", d.Roles[r].Name)
		for _, a := range plan {
			if a.Role == r {
				fmt.Fprintf(out, " %d@%s", a.Index, t.NodeName(a.Node))
			}
		}
		fmt.Fprintln(out)
	}
}

// String is a line of what matters and one for each kind that falls short.
func (o *Optimality) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d instances, %d feasible, %d disagree, found %.4f, mean %.5f, p99 %.4f, max %.3f, optimal %.4f, 2nd cost %.4f, broken promises %d",
		o.Instances, o.Feasible, o.Disagreements, o.FoundShare, o.Mean, o.P99, o.Max, o.ExactShare, o.SecondMean, o.Broken)
	for _, k := range o.Kinds {
		if k.Worse > 0 {
			fmt.Fprintf(&text, "\n  %-60s %5d, missed %d, worse %d, mean %.4f, p99 %.3f; --show %d", k.Kind, k.Instances, k.Missed, k.Worse, k.Mean, k.P99, k.Smallest)
		}
	}
	return text.String()
}
