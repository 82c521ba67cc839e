// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
	"github.com/paddle-volcano/paddle-volcano/test/svg"
)

// Layout of the drawing, in pixels.
const (
	width      = 1100.0
	margin     = 20.0
	rowHeight  = 22.0
	labelWidth = 150.0
	panelWidth = (width - 2*margin - labelWidth) / 2
	barsWidth  = panelWidth - wordsWidth
	wordsWidth = 225.0
)

// panel is one column of the drawing: a measure.
type panel struct {
	title, unit string
	measure     string
	of          func(*Run) float64
}

func panels() []panel {
	return []panel{
		{"Completion time of gangs, mean", "s", gangJCT, func(r *Run) float64 { return r.GangJCTMean }},
		{"Bytes across borders of nodes, racks and blocks", "TB", crossing, func(r *Run) float64 { return r.Crossing / terabyte }},
	}
}

// Draw the report. The same report gives the same bytes.
func (r *Report) Draw() string {
	d := &svg.Drawing{Width: width}
	y := margin
	d.Text("title", margin, y+12, "Jobs of the Philly trace on %s", r.Cluster)
	d.Text("soft", margin, y+32, "Bars are medians of the seeds, dots the seeds, lines from the least to the greatest. In brackets: by ours (%s) of the same seed, median and bounds.", byDefault)
	y += 52
	widest := make([]float64, len(panels()))
	for i, p := range panels() {
		for j := range r.Runs {
			widest[i] = max(widest[i], p.of(&r.Runs[j]))
		}
		d.Text("title", r.left(i), y+12, "%s", p.title)
	}
	y += 20
	for _, load := range r.Settings.Loads {
		d.Text("title", margin, y+14, "load %.0f %%", 100*load)
		y += rowHeight
		for _, scheduler := range r.Settings.Schedulers {
			d.Text("end", margin+labelWidth-8, y+15, "%s", scheduler)
			for i, p := range panels() {
				r.bar(d, &p, load, scheduler, r.left(i), y, widest[i])
			}
			y += rowHeight
		}
		for i := range panels() {
			d.Line("line", r.left(i), y-rowHeight*float64(len(r.Settings.Schedulers)), r.left(i), y)
		}
		y += 12
	}
	d.Height = y + margin - 12
	return d.Document("What placement does to job completion times")
}

// left is where the bars of a panel begin.
func (r *Report) left(panel int) float64 { return margin + labelWidth + float64(panel)*panelWidth }

// bar of one scheduler, with what it says in numbers.
func (r *Report) bar(d *svg.Drawing, p *panel, load float64, scheduler string, left, y, widest float64) {
	figures := r.figures(load, scheduler, p.of)
	if len(figures) == 0 {
		d.Text("soft", left+6, y+15, "not played yet")
		return
	}
	at := func(figure float64) float64 { return left + barsWidth*figure/max(widest, 1e-9) }
	class := "two"
	if isOurs(scheduler) {
		class = "one"
	}
	low, high := slices.Min(figures), slices.Max(figures)
	d.Rect(class, left, y+5, max(1, at(stats.Median(figures))-left), rowHeight-10)
	d.Line("range", at(low), y+rowHeight/2, at(high), y+rowHeight/2)
	for _, figure := range figures {
		d.Dot("dot", at(figure), y+rowHeight/2, 2.5)
	}
	d.Text("soft", at(high)+8, y+15, "%s %s%s", thousands(stats.Median(figures)), p.unit, r.ratio(load, p.measure, scheduler))
}

// ratio says how a scheduler stands to ours in the same seeds; nothing for ours itself.
func (r *Report) ratio(load float64, measure, scheduler string) string {
	for i := range r.Compared {
		c := &r.Compared[i]
		if c.Load == load && c.Measure == measure && c.Baseline == scheduler && c.Ours == byDefault {
			return fmt.Sprintf(" (x%.2f; %.2f to %.2f)", c.Median, c.Low, c.High)
		}
	}
	return ""
}

// thousands writes a whole number with commas.
func thousands(figure float64) string {
	text := fmt.Sprintf("%.0f", figure)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
