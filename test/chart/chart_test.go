// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{
		"0": 0, "0.00123": 0.001234, "1.23": 1.234, "12.3": 12.34, "123": 123.4, "12346": 12345.6, "123k": 123456, "1.23M": 1.234e6,
		"29.8T": 29.814e12, "-1.50G": -1.5e9, "2.00P": 2e15,
	} {
		require.Equal(t, want, Number(v))
	}
}

// element is what is read back of a drawing.
type element struct {
	name, class string
	at          map[string]string
	text        string
}

func parse(t *testing.T, drawing string) (all []element) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(drawing))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		switch tok := token.(type) {
		case xml.StartElement:
			e := element{name: tok.Name.Local, at: map[string]string{}}
			for _, a := range tok.Attr {
				e.at[a.Name.Local] = a.Value
			}
			e.class = e.at["class"]
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += strings.TrimSpace(string(tok))
			}
		}
	}
}

func widths(all []element, class string) (found []string) {
	for _, e := range all {
		if e.name == "rect" && e.class == class {
			found = append(found, e.at["width"])
		}
	}
	return found
}

func TestBars(t *testing.T) {
	t.Parallel()
	b := Bars{Title: "a < b", Unit: "seconds", Groups: []Group{
		{Name: "first", Bars: []Bar{
			{Name: "stock", Kind: Stock, Values: []float64{30, 10, 20}},
			{Name: "paddle", Kind: Ours, Values: []float64{10}},
			{Name: "unknown", Kind: Other, Values: []float64{math.NaN()}},
		}},
	}}
	all := parse(t, b.SVG())
	require.Equal(t, []string{"150.2"}, widths(all, Stock), "the median, where the greatest is as long as there is room")
	require.Equal(t, []string{"75.1"}, widths(all, Ours))
	require.Empty(t, widths(all, Other))
	var spreads int
	var texts []string
	for _, e := range all {
		if e.class == "spread" {
			spreads++
			require.Equal(t, []string{"137.8", "288.0"}, []string{e.at["x1"], e.at["x2"]})
		}
		if e.name == "text" {
			texts = append(texts, e.text)
		}
	}
	require.Equal(t, 1, spreads, "one round has none")
	require.Equal(t, []string{"a < b", "seconds", "first", "stock", "20.0", "paddle", "10.0"}, texts)
	require.Contains(t, b.SVG(), "<desc>first stock: 20.0; first paddle: 10.0</desc>")
}

func TestBarsByLogarithm(t *testing.T) {
	t.Parallel()
	b := Bars{Unit: "s", Log: true, Groups: []Group{{Bars: []Bar{
		{Kind: Stock, Values: []float64{1000}}, {Kind: Ours, Values: []float64{10}}, {Kind: Other, Values: []float64{0}},
	}}}}
	all := parse(t, b.SVG())
	require.Equal(t, []string{"225.3"}, widths(all, Stock))
	require.Equal(t, []string{"75.1"}, widths(all, Ours), "from 1, a third of the way to 1000")
	require.Equal(t, []string{"1.0"}, widths(all, Other), "no logarithm, and still seen")
}

func TestCurves(t *testing.T) {
	t.Parallel()
	c := Curves{Title: "heap", Unit: "MB", Along: "sessions", Curves: []Curve{
		{Name: "paddle", Kind: Ours, X: []float64{0, 50, 100}, Y: []float64{0, 10, 5}}, {Name: "none", Kind: Stock},
	}}
	drawing := c.SVG()
	all := parse(t, drawing)
	var lines []string
	for _, e := range all {
		if e.name == "polyline" {
			lines = append(lines, e.at["points"])
		}
	}
	require.Equal(t, []string{"44.0,182.0 190.0,40.0 336.0,111.0"}, lines)
	require.Contains(t, drawing, "paddle: 5.00 at the end")
	require.NotContains(t, drawing, "none")
	require.NotContains(t, (&Curves{Title: "nothing"}).SVG(), "NaN")
	require.NotContains(t, (&Bars{Title: "nothing"}).SVG(), "NaN")
}

func TestLongTitlesAreWrapped(t *testing.T) {
	t.Parallel()
	b := Bars{Title: strings.Repeat("word ", 30), Unit: "s"}
	for _, e := range parse(t, b.SVG()) {
		require.LessOrEqual(t, len(e.text), 150)
		if e.name == "text" {
			require.LessOrEqual(t, len(e.text), 56)
		}
	}
	require.Equal(t, "abcdefgh…", short("abcdefghijk", 9))
}
