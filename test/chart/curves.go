// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Curves are values over something that goes on, such as time; the axis of values begins at 0.
type Curves struct {
	Title, Unit string
	// Along says what goes on, with its unit.
	Along  string
	Curves []Curve
}

// Curve joins points; X and Y are equally long.
type Curve struct {
	Name, Kind string
	X, Y       []float64
}

const curveHeight = 150.0

// SVG draws them, with the last value of each beside its name.
func (cs *Curves) SVG() string {
	c := &canvas{}
	c.head(cs.Title, cs.Unit)
	var right, top float64
	left := math.Inf(1)
	for _, curve := range cs.Curves {
		if len(curve.X) == 0 {
			continue
		}
		left, right, top = min(left, slices.Min(curve.X)), max(right, slices.Max(curve.X)), max(top, slices.Max(curve.Y))
	}
	const margin = 44.0
	base := c.y + curveHeight
	x := func(v float64) float64 { return margin + (Width-margin-4)*(v-left)/max(right-left, 1e-300) }
	y := func(v float64) float64 { return base - (curveHeight-8)*v/max(top, 1e-300) }
	c.line("axis", margin, base, Width, base)
	c.line("axis", margin, y(top), Width, y(top))
	c.text("soft end", margin-5, base+4, "0")
	c.text("soft end", margin-5, y(top)+4, Number(top))
	var told []string
	for _, curve := range cs.Curves {
		if len(curve.X) == 0 {
			continue
		}
		points := make([]string, len(curve.X))
		for i := range curve.X {
			points[i] = fmt.Sprintf("%.1f,%.1f", x(curve.X[i]), y(curve.Y[i]))
		}
		c.put(`<polyline class="curve %s" points=%q/>`, html.EscapeString(curve.Kind), strings.Join(points, " "))
		told = append(told, fmt.Sprintf("%s ends at %s", curve.Name, Number(curve.Y[len(curve.Y)-1])))
	}
	c.y = base + 15
	if len(told) > 0 {
		c.text("soft", margin, c.y, Number(left))
		c.text("soft end", Width, c.y, Number(right)+" "+cs.Along)
	}
	for _, curve := range cs.Curves {
		if len(curve.X) == 0 {
			continue
		}
		c.y += 15
		c.rect(curve.Kind, margin, c.y-9, 9, 9)
		c.text("", margin+14, c.y, fmt.Sprintf("%s: %s at the end", curve.Name, Number(curve.Y[len(curve.Y)-1])))
	}
	return c.document(cs.Title, strings.Join(told, "; "))
}
