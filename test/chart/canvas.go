// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Width of every drawing, in the units of its text, which are pixels where there is room.
const Width = 340

// Kinds of series: each has a colour of its own, the same in all drawings.
const (
	Ours  = "ours"
	Ours2 = "ours2"
	Stock = "stock"
	Other = "other"
	Floor = "floor"
	Limit = "limit"
)

// Style is what a page needs for its drawings to have colours, light and dark.
const Style = `
.chart{display:block;width:100%;max-width:480px;height:auto;font:11px system-ui,sans-serif}
.chart text{fill:var(--text)}.chart .soft{fill:var(--soft)}.chart .title{font-weight:600;font-size:13px}.chart .end{text-anchor:end}
.chart .axis{stroke:var(--line)}.chart .spread{stroke:var(--text);stroke-width:1.2}.chart .curve{fill:none;stroke-width:1.6}
.chart .ours{fill:var(--ours)}.chart .ours2{fill:var(--ours2)}.chart .stock{fill:var(--stock)}.chart .other{fill:var(--other)}.chart .floor{fill:var(--floor)}.chart .limit{fill:var(--limit)}
.chart .curve.ours{fill:none;stroke:var(--ours)}.chart .curve.ours2{fill:none;stroke:var(--ours2)}.chart .curve.stock{fill:none;stroke:var(--stock)}.chart .curve.other{fill:none;stroke:var(--other)}
:root{--page:#fff;--text:#1f2328;--soft:#59636e;--line:#d1d9e0;--ours:#2166b0;--ours2:#6aa5dc;--stock:#d9730d;--other:#9a6dd7;--floor:#8c959f;--limit:#1a7f37;--bad:#c62828}
@media (prefers-color-scheme:dark){:root{--page:#0d1117;--text:#e6edf3;--soft:#9198a1;--line:#3d444d;--ours:#58a6ff;--ours2:#2f6db3;--stock:#f0a35e;--other:#b392f0;--floor:#6e7681;--limit:#3fb950;--bad:#ff7b72}}
`

// canvas is a drawing under way; y is how far down it has come.
type canvas struct {
	strings.Builder
	y float64
}

func (c *canvas) put(format string, values ...any) {
	_, _ = fmt.Fprintf(c, format+"\n", values...) // a Builder never fails
}

func (c *canvas) rect(class string, x, y, width, height float64) {
	c.put(`<rect class=%q x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, width, height)
}

func (c *canvas) line(class string, x1, y1, x2, y2 float64) {
	c.put(`<line class=%q x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *canvas) text(class string, x, y float64, text string) {
	c.put(`<text class=%q x="%.1f" y="%.1f">%s</text>`, class, x, y, html.EscapeString(text))
}

// paragraph writes a text in lines as wide as the drawing.
func (c *canvas) paragraph(class string, perLine int, text string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len([]rune(line+" "+word)) > perLine {
			c.y += 14
			c.text(class, 0, c.y, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	c.y += 14
	c.text(class, 0, c.y, line)
}

// head is a title and what its numbers mean.
func (c *canvas) head(title, unit string) {
	c.paragraph("title", 44, title)
	c.paragraph("soft", 56, unit)
	c.y += 4
}

// document closes the drawing. Its description is for those who do not see it.
func (c *canvas) document(title, description string) string {
	return fmt.Sprintf(`<svg class="chart" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" role="img"><title>%s</title><desc>%s</desc>`,
		Width, c.y+6, html.EscapeString(title), html.EscapeString(description)) + "\n" + c.String() + "</svg>\n"
}

// Number writes a value with three digits that count, and an SI prefix where it is large.
func Number(v float64) string {
	abs := math.Abs(v)
	for _, unit := range []struct {
		from   float64
		letter string
	}{{1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e5, "k"}} {
		if abs >= unit.from {
			scale := unit.from
			if unit.letter == "k" {
				scale = 1e3
			}
			return digits(v/scale) + unit.letter
		}
	}
	return digits(v)
}

// digits writes three that count, and all before the point.
func digits(v float64) string {
	abs := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case abs >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case abs >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case abs >= 1:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
