// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{
		"0": 0, "0.00123": 0.001234, "1.23": 1.234, "12.3": 12.34, "123": 123.4, "12346": 12345.6, "123k": 123456, "1.23M": 1.234e6,
		"29.8T": 29.814e12, "-1.50G": -1.5e9, "2.00P": 2e15,
	} {
		require.Equal(t, want, number(v))
	}
}

func TestBarsAreAsLongAsTheirMedians(t *testing.T) {
	t.Parallel()
	rows := []Row{
		{Name: "stock", Values: []float64{30, 10, 20}}, {Name: "paddle", Values: []float64{10}},
		{Name: "unknown", Values: []float64{math.NaN(), math.Inf(1)}}, {Name: "none"},
	}
	c := Chart{Groups: []Group{{Rows: rows}, {Rows: []Row{{Values: []float64{40}}}}}}
	require.Equal(t, []Drawn{
		{Row: rows[0], Median: 20, Width: 50, From: 25, Spread: 50},
		{Row: rows[1], Median: 10, Width: 25, From: 25},
	}, c.Draw(c.Groups[0]))
	require.Empty(t, (&Chart{}).Draw(Group{}))
}

func TestBarsByLogarithm(t *testing.T) {
	t.Parallel()
	c := Chart{Log: true, Groups: []Group{{Rows: []Row{{Values: []float64{1000}}, {Values: []float64{10}}, {Values: []float64{0}}}}}}
	var widths []float64
	for _, row := range c.Draw(c.Groups[0]) {
		widths = append(widths, row.Width)
	}
	require.InDeltaSlice(t, []float64{100, 100.0 / 3, 0}, widths, 1e-9, "from 1")
	zero := Chart{Log: true, Groups: []Group{{Rows: []Row{{Values: []float64{0}}}}}}
	require.Zero(t, zero.Draw(zero.Groups[0])[0].Width)
}
