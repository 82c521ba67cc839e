// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
)

// ShowParts prints what was measured, part by part.
func (r *Report) ShowParts(out io.Writer) error {
	var text strings.Builder
	for i := range r.Speed {
		fmt.Fprintf(&text, "speed       %s\n", &r.Speed[i])
	}
	if r.Overhead != nil {
		fmt.Fprintf(&text, "overhead    %s\n", r.Overhead)
	}
	if r.QualitySummary != nil {
		showQuality(&text, "bytes", r.Quality, r.QualitySummary)
		showQuality(&text, "busiest", r.QualityBusiest, r.QualityBusiestSummary)
	}
	if q := r.Queues; q != nil {
		fmt.Fprintf(&text, "queues      %d clusters, %d jobs: stock places %d, ours %d; passed over that had room: %d, ours %d; younger ones instead of an older one: %d, ours %d\n",
			q.Clusters, q.Jobs, q.StockPlaced, q.OursPlaced, q.StockPassedOver, len(q.PassedOver), q.StockInstead, q.Instead)
		list(&text, q.PassedOver)
	}
	if o := r.Optimality; o != nil {
		fmt.Fprintf(&text, "optimality  %d instances: ours by the planner's with %d times its budget %.4f in the mean, %.4f at most; %d are more than %.0f %% above\n",
			o.Instances, o.Effort, o.Mean, o.Max, len(o.Above), 100*(o.Limit-1))
		list(&text, o.Above)
	}
	if c := r.Churn; c != nil {
		fmt.Fprintf(&text, "churn       %s\nchurn       %s\n", c.Stock, c.Paddle)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

func list(text *strings.Builder, items []string) {
	for _, item := range items {
		fmt.Fprintf(text, "              %s\n", item)
	}
}

// showQuality has a line for each scenario: the cost of every set-up, and ours by the cheapest.
func showQuality(text *strings.Builder, objective string, rows []quality.Row, s *quality.Summary) {
	fmt.Fprintf(text, "quality     objective %s: cost (bytes across racks, across nodes), in model sizes per step\n", objective)
	for _, of := range byScenario(rows) {
		best := of[0]
		fmt.Fprintf(text, "  %-46s", of[0].Scenario)
		for _, row := range of {
			fmt.Fprintf(text, " %s %.1f (%.1f, %.1f);", row.Baseline, row.Cost, row.CrossRack, row.CrossNode)
			if row.CostRatio < best.CostRatio {
				best = row
			}
		}
		fmt.Fprintf(text, " ours %.1f (%.1f, %.1f): x%.2f, busiest x%.2f, on %d of %d clusters\n",
			best.OursCost, best.OursRack, best.OursNode, best.CostRatio, best.Busiest, best.Compared, best.Clusters)
	}
	fmt.Fprintf(text, "  the cheapest baseline's cost by ours: x%.3f in the geometric mean, x%.3f at least (%s); its busiest uplink: x%.3f\n",
		s.Geomean, s.Least, s.LeastIn, s.Busiest)
	for _, more := range []struct {
		what  string
		which []string
	}{{"not cheaper than every baseline", s.NotCheaper}, {"more bytes across racks than the best baseline", s.MoreRackBytes}, {"fewer gangs than stock", s.FewerGangs}} {
		if len(more.which) > 0 {
			fmt.Fprintf(text, "  %s in %d scenarios:\n", more.what, len(more.which))
			list(text, more.which)
		}
	}
}

// byScenario splits rows that are ordered by scenario.
func byScenario(rows []quality.Row) [][]quality.Row {
	var all [][]quality.Row
	for lo := 0; lo < len(rows); {
		hi := lo
		for hi < len(rows) && rows[hi].Scenario == rows[lo].Scenario {
			hi++
		}
		all = append(all, rows[lo:hi])
		lo = hi
	}
	return all
}
