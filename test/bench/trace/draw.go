// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"fmt"
	"html"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/chart"
)

// Draw the report for itself: what jobs and links see of each scheduler, and how the others stand to ours. The same report gives
// the same bytes.
func (r *Report) Draw() string {
	jct := func(run *Run) float64 { return run.GangJCTMean / hour }
	bytes := func(run *Run) float64 { return run.Crossing }
	theirs := fmt.Sprintf("by %s with the same seed; above 1 ours is better", byDefault)
	return sheet("What placement does to the jobs of a public trace", [][]string{
		{
			r.bars("Completion time of jobs of 2 or more GPUs", "hours, mean over jobs; medians of seeds, least to greatest", jct),
			r.ratios("That completion time", theirs, gangJCT),
		},
		{
			r.bars("Bytes across borders of nodes, racks and blocks", "medians of seeds, from least to greatest", bytes),
			r.ratios("Those bytes", theirs, crossing),
		},
	})
}

const hour = 3600.0

// bars of all runs.
func (r *Report) bars(title, unit string, of func(*Run) float64) string {
	return r.grouped(title, unit, func(load float64, scheduler string) []float64 { return r.figures(load, scheduler, of) })
}

// ratios of a measure, theirs by ours.
func (r *Report) ratios(title, unit, measure string) string {
	return r.grouped(title, unit, func(load float64, scheduler string) []float64 {
		for i := range r.Compared {
			if c := &r.Compared[i]; c.Load == load && c.Measure == measure && c.Ours == byDefault && c.Baseline == scheduler {
				return c.Ratios
			}
		}
		return nil
	})
}

// grouped are bars of each scheduler at each load.
func (r *Report) grouped(title, unit string, values func(load float64, scheduler string) []float64) string {
	drawn := chart.Bars{Title: title, Unit: unit}
	for _, load := range r.Settings.Loads {
		group := chart.Group{Name: fmt.Sprintf("load %.0f %%", 100*load)}
		for _, scheduler := range r.Settings.Schedulers {
			if found := values(load, scheduler); len(found) > 0 {
				group.Bars = append(group.Bars, chart.Bar{Name: scheduler, Kind: kindOf(scheduler), Values: found})
			}
		}
		if len(group.Bars) > 0 {
			drawn.Groups = append(drawn.Groups, group)
		}
	}
	return drawn.SVG()
}

// kindOf gives schedulers their colours.
func kindOf(scheduler string) string {
	switch {
	case scheduler == stock:
		return chart.Stock
	case scheduler == byDefault:
		return chart.Ours
	case isOurs(scheduler):
		return chart.Ours2
	default:
		return chart.Other
	}
}

// Layout of a sheet, in pixels.
const (
	margin = 20.0
	header = 34.0
)

// sheet puts columns of charts side by side into one file that needs nothing beside itself.
func sheet(title string, columns [][]string) string {
	var text strings.Builder
	width, height := margin, 0.0
	for _, column := range columns {
		y := margin + header
		for _, drawn := range column {
			tall := heightOf(drawn)
			fmt.Fprintf(&text, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%.0f\">%s</svg>\n", width, y, chart.Width, tall, drawn)
			y += tall + margin
		}
		width, height = width+chart.Width+2*margin, max(height, y)
	}
	width -= margin
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img"><title>%s</title>`,
		width, height, width, height, html.EscapeString(title)) +
		"\n<style>" + chart.Style + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"var(--page)\"/>\n" +
		fmt.Sprintf(`<text x="%.0f" y="%.0f" fill="var(--text)" style="font:600 14px system-ui,sans-serif">%s</text>`, margin, margin+14, html.EscapeString(title)) +
		"\n" + text.String() + "</svg>\n"
}

// heightOf a chart, as its first line says.
func heightOf(drawn string) float64 {
	var wide, tall float64
	_, box, _ := strings.Cut(drawn, `viewBox="`)
	_, _ = fmt.Sscanf(box, "0 0 %f %f", &wide, &tall) // a chart always says it; a test looks at the sheet
	return tall
}
