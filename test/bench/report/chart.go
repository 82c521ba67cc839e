// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Kinds of what is measured. Each has its own colour, which is the same in all charts.
const (
	kindOurs  = "ours"
	kindOurs2 = "ours2"
	kindStock = "stock"
	kindOther = "other"
	kindFloor = "floor"
	kindLimit = "limit"
)

// Chart compares measured values.
type Chart struct {
	// Title is what is compared, Unit in what unit, and whether less or more is better.
	Title, Unit string
	Groups      []Group
	// Log makes bars as long as the logarithm of their values, for values that differ by orders of magnitude.
	Log bool
}

// Group is what is compared with each other.
type Group struct {
	Name string
	Rows []Row
}

// Row is one thing that was measured once or several times.
type Row struct {
	Name, Kind string
	Values     []float64
}

// Drawn is a row as the page shows it: a bar as long as the median, and a line from the least value to the greatest. Lengths are
// in percent of the longest bar.
type Drawn struct {
	Row
	Median, Width, From, Spread float64
}

// Draw returns the rows of a group. Values that are not numbers, and rows without values, are left out.
func (c *Chart) Draw(g Group) (rows []Drawn) {
	least, most := c.bounds()
	length := func(v float64) float64 {
		if c.Log {
			return 100 * max(0, math.Log(v/least)) / max(math.Log(most/least), 1e-9)
		}
		return 100 * max(0, v) / max(most, 1e-300)
	}
	for _, row := range g.Rows {
		values := measured(row.Values)
		if len(values) == 0 {
			continue
		}
		d := Drawn{Row: row, Median: stats.Median(values), From: length(slices.Min(values))}
		d.Width, d.Spread = length(d.Median), length(slices.Max(values))-d.From
		rows = append(rows, d)
	}
	return rows
}

// bounds are where bars begin and end: at 0, or for logarithms at a power of ten below the least value.
func (c *Chart) bounds() (least, most float64) {
	least = math.Inf(1)
	for _, g := range c.Groups {
		for _, row := range g.Rows {
			for _, v := range measured(row.Values) {
				most = max(most, v)
				if v > 0 {
					least = min(least, v)
				}
			}
		}
	}
	if most == 0 {
		return 1, 1
	}
	return math.Pow(10, math.Floor(math.Log10(min(least, most))-0.3)), most
}

// halves compares what was measured first with what was measured later, to show growth.
func halves(name, kind string, values []float64) Group {
	middle := len(values) / 2
	return Group{Name: name, Rows: []Row{{"first half", kind, values[:middle]}, {"second half", kind, values[middle:]}}}
}

func measured(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// number formats a value with three significant digits, and an SI prefix where it is large.
func number(v float64) string {
	abs, unit := math.Abs(v), ""
	for _, u := range []struct {
		from, scale float64
		letter      string
	}{{1e15, 1e15, "P"}, {1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e5, 1e3, "k"}} {
		if abs >= u.from {
			v, abs, unit = v/u.scale, abs/u.scale, u.letter
			break
		}
	}
	switch {
	case v == 0:
		return "0"
	case abs >= 1:
		return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Log10(abs))), 64) + unit
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
