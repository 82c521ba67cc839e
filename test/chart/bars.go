// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"math"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Bars are groups of measured values, each drawn as long as its median, with a line from the least to the greatest.
type Bars struct {
	// Title says what is seen, Unit in what, and whether less or more is better.
	Title, Unit string
	Groups      []Group
	// Log draws lengths by the logarithm, from a power of ten: for what differs by orders of magnitude.
	Log bool
}

// Group is what is compared with each other.
type Group struct {
	Name string
	Bars []Bar
}

// Bar is one thing that was measured once or several times.
type Bar struct {
	Name string
	// Kind is one of Ours, Stock and so on.
	Kind   string
	Values []float64
}

const (
	valueWidth = 52.0
	rowHeight  = 17.0
	// letter is about how wide one is; names get as much room as the longest needs, to a limit.
	letter     = 6.3
	mostNames  = 24
	leastNames = 9
)

// names is how many letters of names are shown.
func (b *Bars) names() int {
	longest := leastNames
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			longest = max(longest, len([]rune(bar.Name)))
		}
	}
	return min(longest, mostNames)
}

// SVG draws them. Values that are no numbers, and groups without any, are left out.
func (b *Bars) SVG() string {
	c := &canvas{}
	unit := b.Unit
	if b.Log {
		unit += " (logarithmic)"
	}
	c.head(b.Title, unit)
	least, most := b.bounds()
	letters := b.names()
	nameWidth := letter*float64(letters) + 6
	length := func(v float64) float64 {
		room := Width - nameWidth - valueWidth
		if b.Log {
			return room * max(0, math.Log(v)-math.Log(least)) / max(math.Log(most)-math.Log(least), 1e-9)
		}
		return room * max(0, v) / max(most, 1e-300)
	}
	var told []string
	for _, g := range b.Groups {
		if g.Name != "" {
			c.paragraph("", 56, g.Name)
			c.y += 2
		}
		for _, bar := range g.Bars {
			values := measured(bar.Values)
			if len(values) == 0 {
				continue
			}
			median := stats.Median(values)
			c.y += rowHeight
			c.text("soft end", nameWidth-6, c.y-4, short(bar.Name, letters))
			c.rect(bar.Kind, nameWidth, c.y-14, max(length(median), 1), 12)
			end := length(median)
			if low, high := slices.Min(values), slices.Max(values); high > low {
				c.line("spread", nameWidth+length(low), c.y-8, nameWidth+length(high), c.y-8)
				end = length(high)
			}
			c.text("", nameWidth+end+4, c.y-4, Number(median))
			told = append(told, strings.TrimSpace(g.Name+" "+bar.Name)+": "+Number(median))
		}
		c.y += 5
	}
	return c.document(b.Title, strings.Join(told, "; "))
}

// bounds are where bars begin and end: at 0, or for logarithms at a power of ten below the least.
func (b *Bars) bounds() (least, most float64) {
	least, most = math.Inf(1), 0
	for _, g := range b.Groups {
		for _, bar := range g.Bars {
			for _, v := range measured(bar.Values) {
				most = max(most, v)
				if v > 0 {
					least = min(least, v)
				}
			}
		}
	}
	if !b.Log || math.IsInf(least, 1) {
		return 0, most
	}
	return math.Pow(10, math.Floor(math.Log10(least)-0.3)), most
}

func measured(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// short cuts a name that is too long for its place.
func short(name string, runes int) string {
	if r := []rune(name); len(r) > runes {
		return string(r[:runes-1]) + "…"
	}
	return name
}
