// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"
	"math"
)

// Layout of the plot, in pixels.
const (
	plotWidth  = 960
	margin     = 24.0
	rowHeight  = 22.0
	labelWidth = 385.0
	columnsTop = 190.0 // height of the columns of ratios
)

// Plot draws a report: the distribution of ratios to the optimum, the baselines, and times in sorts. The same report
// gives the same bytes.
func Plot(r *Report) string {
	s := &svg{width: plotWidth}
	y := margin
	if r.Optimality != nil && r.Heuristic != nil {
		y = s.ratios(r, y)
	}
	if len(r.Baselines) > 0 {
		y = s.baselines(r, y)
	}
	if len(r.Speed) > 0 {
		y = s.speed(r, y)
	}
	s.height = int(y)
	return s.document(fmt.Sprintf("Placement planner, seed %d", r.Seed))
}

// ratios draws two columns for each bin; their height is the logarithm of the share, as nearly all are in the first.
func (s *svg) ratios(r *Report, top float64) float64 {
	s.text("title", margin, top+12, "Cost of a plan by cost of the optimum, random small jobs against brute force (share of plans, logarithmic)")
	s.legend(margin, top+32, "one", "with the exact search", r.Optimality)
	s.legend(margin, top+50, "two", "without", r.Heuristic)
	base := top + 76 + columnsTop
	s.line("line", margin, base, plotWidth-margin, base)
	bins := len(r.Optimality.Distribution)
	step := (plotWidth - 2*margin) / float64(bins)
	for i := range bins {
		x := margin + float64(i)*step
		s.column("one", x+step/2-27, base, r.Optimality.Distribution[i].Count, r.Optimality.Compared)
		s.column("two", x+step/2+1, base, r.Heuristic.Distribution[i].Count, r.Heuristic.Compared)
		s.text("soft mid", x+step/2, base+16, "%s", binName(r.Optimality.Distribution, i))
	}
	return base + 44
}

func (s *svg) legend(x, y float64, class, what string, o *Optimality) {
	s.rect(class, x, y-9, 10, 10)
	s.text("", x+16, y, "%s: %d instances, mean %.5f, 99th percentile %.4f, optimal in %.2f %%, %d wrong about whether it fits",
		what, o.Instances, o.Mean, o.P99, 100*o.ExactShare, o.Disagreements)
}

func (s *svg) column(class string, x, base float64, count, all int) {
	if count == 0 || all == 0 {
		return
	}
	const decades = 5 // one in 100,000 is the foot
	height := columnsTop * max(0.01, 1+math.Log10(float64(count)/float64(all))/decades)
	s.rect(class, x, base-height, 26, height)
	if class == "one" {
		s.text("soft end", x+26, base-height-4, "%d", count)
	} else {
		s.text("soft", x, base-height-4, "%d", count)
	}
}

func binName(bins []Bin, i int) string {
	switch {
	case i == 0:
		return "1"
	case i == len(bins)-1:
		return fmt.Sprintf("> %g", bins[i-1].UpTo)
	default:
		return fmt.Sprintf("to %g", bins[i].UpTo)
	}
}

// baselines draws how much more each plain placement costs.
func (s *svg) baselines(r *Report, top float64) float64 {
	s.text("title", margin, top+12, "Cost of plain placements by ours on %d loaded clusters (geometric mean, logarithmic)", r.Overall.Clusters)
	most := 2.0
	for i := range r.Baselines {
		most = max(most, r.Baselines[i].CostRatio)
	}
	y := top + 24
	for i := range r.Baselines {
		b := &r.Baselines[i]
		s.text("end", labelWidth, y+15, "%s", b.Name)
		s.bar("one", y, math.Log(max(1, b.CostRatio)), 0, math.Log(most), fmt.Sprintf("x%.2f; across racks x%.1f; ours is worse on %d", b.CostRatio, b.RackBytes, b.Worse))
		y += rowHeight
	}
	return y + 24
}

const barsWidth = plotWidth - labelWidth - 2*margin - 265

// bar with a label behind it, and a mark at a limit if that is not 0.
func (s *svg) bar(class string, y, value, limit, most float64, label string) {
	width := max(1, barsWidth*value/most)
	s.rect(class, labelWidth+10, y+3, width, rowHeight-6)
	mark := barsWidth * limit / most
	if limit > 0 {
		s.line("bar", labelWidth+10+mark, y+1, labelWidth+10+mark, y+rowHeight-1)
	}
	s.text("soft", labelWidth+16+max(width, mark), y+15, "%s", label)
}

// speed draws times in sorts of the nodes; a mark is the bar.
func (s *svg) speed(r *Report, top float64) float64 {
	s.text("title", margin, top+12, "Time to plan, in sorts of the topology's nodes by free GPUs (logarithmic; a mark is the limit)")
	const foot = 0.1
	most := 10.0
	for i := range r.Speed {
		most = max(most, r.Speed[i].Sorts, r.Speed[i].limit())
	}
	y := top + 24
	for i := range r.Speed {
		c := &r.Speed[i]
		class := "one"
		if c.Warm {
			class = "two"
		}
		s.text("end", labelWidth, y+15, "%s, %d nodes, %s", c.Case, c.Nodes, c.state())
		limit := 0.0
		if c.limit() > 0 {
			limit = math.Log(c.limit() / foot)
		}
		s.bar(class, y, math.Log(max(c.Sorts, foot*1.05)/foot), limit, math.Log(most/foot), fmt.Sprintf("%.1f sorts, %.3g ms", c.Sorts, c.MS))
		y += rowHeight
	}
	return y + margin
}

// limit in sorts; 0 if none was asked for.
func (s *Speed) limit() float64 {
	switch {
	case (s.Case == caseRow || s.Case == caseWideRow) && s.Nodes == smallFleet.nodes:
		return rowSorts
	case (s.Case == caseServers || s.Case == caseRing) && s.Nodes == largeFleet.nodes:
		return largeSorts
	default:
		return 0
	}
}
