// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// column of the table of runs.
type column struct {
	name  string
	of    func(*Run) float64
	style string
}

func columns() []column {
	return []column{
		{"JCT mean", func(r *Run) float64 { return r.JCTMean }, "%.0f"},
		{"p95", func(r *Run) float64 { return r.JCTP95 }, "%.0f"},
		{"gangs mean", func(r *Run) float64 { return r.GangJCTMean }, "%.0f"},
		{"p95", func(r *Run) float64 { return r.GangJCTP95 }, "%.0f"},
		{"slowdown", func(r *Run) float64 { return r.GangSlowdown }, "%.2f"},
		{"wait p99", func(r *Run) float64 { return r.GangWaitP99 }, "%.0f"},
		{"makespan", func(r *Run) float64 { return r.Makespan }, "%.0f"},
		{"GPUs held", func(r *Run) float64 { return 100 * r.GPUUse }, "%.1f"},
		{"computing", func(r *Run) float64 { return 100 * r.GPUComputing }, "%.1f"},
		{"frag node", func(r *Run) float64 { return 100 * r.FragmentationNode }, "%.1f"},
		{"frag rack", func(r *Run) float64 { return 100 * r.FragmentationRack }, "%.1f"},
		{"TB crossing", func(r *Run) float64 { return r.Crossing / terabyte }, "%.0f"},
		{"racks", func(r *Run) float64 { return r.CrossingRack / terabyte }, "%.0f"},
	}
}

// show the medians of all runs over the seeds, and how the baselines stand to ours.
func (r *Report) show(out io.Writer) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s; uplinks of %v Gbps; %d jobs measured in a run, %g s each at most; medians of %d seeds; seconds, percent, TB\n",
		r.Cluster, r.Settings.Gbps, r.Settings.Jobs, r.Settings.Cap, len(r.Settings.Seeds))
	for _, load := range r.Settings.Loads {
		fmt.Fprintf(&text, "\nload %-18s", fmt.Sprintf("%.0f %%", 100*load))
		for _, c := range columns() {
			fmt.Fprintf(&text, "%12s", c.name)
		}
		text.WriteString("\n")
		for _, scheduler := range r.Settings.Schedulers {
			fmt.Fprintf(&text, "%-23s", scheduler)
			for _, c := range columns() {
				said := "-" // not played
				if figures := r.figures(load, scheduler, c.of); len(figures) > 0 {
					said = fmt.Sprintf(c.style, stats.Median(figures))
				}
				fmt.Fprintf(&text, "%12s", said)
			}
			text.WriteString("\n")
		}
	}
	text.WriteString("\ntheirs by ours, above 1 where ours is better: median of the seeds (bounds)\n")
	for group := range slices.Chunk(r.Compared, len(measures())) {
		fmt.Fprintf(&text, "%.0f %%, %s by %s:", 100*group[0].Load, group[0].Baseline, group[0].Ours)
		for i := range group {
			fmt.Fprintf(&text, " %s %.2f (%.2f to %.2f);", group[i].Measure, group[i].Median, group[i].Low, group[i].High)
		}
		text.WriteString("\n")
	}
	_, err := io.WriteString(out, text.String()+"\n")
	return err
}

// figures of all seeds.
func (r *Report) figures(load float64, scheduler string, of func(*Run) float64) []float64 {
	var all []float64
	for i := range r.Runs {
		if run := &r.Runs[i]; run.Load == load && run.Scheduler == scheduler {
			all = append(all, of(run))
		}
	}
	return all
}
