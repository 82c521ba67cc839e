// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/session/churn"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
)

// Layout of the drawing, in pixels.
const (
	width      = 1080
	margin     = 24.0
	rowHeight  = 20.0
	labelWidth = 350.0
	barsWidth  = width - labelWidth - 2*margin - 300
	curveTall  = 120.0
)

// Draw the report. The same report gives the same bytes.
func (r *Report) Draw() string {
	s := &svg{y: margin}
	if len(r.Speed) > 0 {
		s.speed(r)
	}
	if r.QualitySummary != nil {
		s.quality(r.Quality, r.QualitySummary)
	}
	if r.Optimality != nil {
		s.optimality(r.Optimality)
	}
	if r.Churn != nil {
		s.churn(r.Churn)
	}
	s.bars(r)
	s.y += margin
	return s.document(fmt.Sprintf("Scheduling sessions, seed %d", r.Seed))
}

func (s *svg) title(format string, values ...any) {
	s.text("title", margin, s.y+12, format, values...)
	s.y += 24
}

// bar has a label on either side, and a mark at a limit above 0.
func (s *svg) bar(class, label string, value, limit, most float64, words string) {
	s.text("end", margin+labelWidth, s.y+14, "%s", label)
	long := max(1, barsWidth*value/most)
	left := margin + labelWidth + 10
	s.rect(class, left, s.y+3, long, rowHeight-6)
	mark := 0.0
	if limit > 0 {
		mark = barsWidth * limit / most
		s.line("limit", left+mark, s.y+1, left+mark, s.y+rowHeight-1)
	}
	s.text("soft", left+max(long, mark)+6, s.y+14, "%s", words)
	s.y += rowHeight
}

func (s *svg) speed(r *Report) {
	s.title("allocate: stock's time by the plugin's (logarithmic; the mark is the limit)")
	widest := math.Log(2 * allocateRatio)
	for i := range r.Speed {
		widest = max(widest, math.Log(max(1, r.Speed[i].Ratio)))
	}
	for i := range r.Speed {
		row := &r.Speed[i]
		s.bar(class(row.Ratio >= allocateRatio), fmt.Sprintf("%d nodes, %d pods in gangs of %d, %s", row.Nodes, row.Pods, row.Gang, percentage(row.Percentage)),
			math.Log(max(1, row.Ratio)), math.Log(allocateRatio), widest, fmt.Sprintf("x%.1f: %.3g s and %.3g s", row.Ratio, row.Stock, row.Paddle))
	}
	if o := r.Overhead; o != nil {
		s.text("soft", margin, s.y+14, "Jobs that are not Paddle's: %s", o)
		s.y += rowHeight
	}
	s.y += margin
}

// class of a bar that is met or not.
func class(met bool) string {
	if met {
		return "one"
	}
	return "bad"
}

func (s *svg) quality(rows []quality.Row, summary *quality.Summary) {
	s.title("Priced bytes per step: the cheapest stock set-up's by the plugin's, geometric mean x%.2f (logarithmic; a bar starts at x1)", summary.Geomean)
	scenarios := byScenario(rows)
	widest := math.Log(2)
	best := make([]quality.Row, len(scenarios))
	for i, of := range scenarios {
		best[i] = slices.MinFunc(of, func(a, b quality.Row) int { return compareRatio(a.CostRatio, b.CostRatio) })
		widest = max(widest, math.Abs(math.Log(max(best[i].CostRatio, 1e-3))))
	}
	for _, row := range best {
		ratio := math.Log(max(row.CostRatio, 1e-3))
		s.bar(class(row.CostRatio > 1), row.Scenario, math.Abs(ratio), 0, widest,
			fmt.Sprintf("x%.2f: %.1f with %s, %.1f ours", row.CostRatio, row.Cost, row.Baseline, row.OursCost))
	}
	s.y += margin
}

func compareRatio(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

func (s *svg) optimality(o *quality.Nearness) {
	s.title("Our cost by the best known on %d instances, in order (the mark is %g)", o.Instances, o.Limit)
	ratios := make([]float64, 0, len(o.All))
	for i := range o.All {
		ratios = append(ratios, o.All[i].Ratio)
	}
	slices.Sort(ratios)
	top := max(1.05, min(2, slices.Max(append(ratios, 1))))
	height := func(ratio float64) float64 { return s.y + curveTall*(1-(min(max(ratio, 1), top)-1)/(top-1)) }
	var xs, ys []float64
	for i, ratio := range ratios {
		xs, ys = append(xs, margin+(width-2*margin)*(float64(i)+0.5)/float64(len(ratios))), append(ys, height(ratio))
	}
	s.line("limit", margin, height(o.Limit), width-margin, height(o.Limit))
	s.line("line", margin, height(1), width-margin, height(1))
	s.curve("one", xs, ys)
	s.y += curveTall + 16
	s.text("soft", margin, s.y, "from 1 to %.2f; mean %.4f, %d above the limit", top, o.Mean, len(o.Above))
	s.y += margin
}

func (s *svg) churn(c *Churn) {
	s.title("Heap after garbage collection over %d sessions of churn, from 0", c.Paddle.Sessions)
	most := slices.Max(append(append([]float64{1}, c.Stock.Heap...), c.Paddle.Heap...))
	for _, one := range []struct {
		class  string
		series *churn.Series
	}{{"two", c.Stock}, {"one", c.Paddle}} {
		var xs, ys []float64
		for i, heap := range one.series.Heap {
			xs = append(xs, margin+(width-2*margin)*(float64(i)+0.5)/float64(len(one.series.Heap)))
			ys = append(ys, s.y+curveTall*(1-heap/most))
		}
		s.curve(one.class, xs, ys)
	}
	s.line("line", margin, s.y+curveTall, width-margin, s.y+curveTall)
	s.y += curveTall + 16
	s.text("soft", margin, s.y, "stock (orange) %+.2f %%, with the plugin (blue) %+.2f %% over all sessions; %.2f MB at most", 100*c.Stock.Growth, 100*c.Paddle.Growth, most/1e6)
	s.y += margin
}

func (s *svg) bars(r *Report) {
	s.title("%d of %d bars missed", r.Missed, len(r.Bars))
	for _, bar := range r.Bars {
		word := bar.Verdict()
		if word == "missed" {
			s.rect("bad", margin, s.y+4, 10, 10)
		}
		s.text("", margin+18, s.y+14, "%s: %s: %.5g %s %g", word, bar.Name, bar.Is, bar.Sign, bar.Limit)
		s.y += rowHeight
	}
}
