// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		name     string
		kept     Figure
		measured float64
		want     Result
	}{
		{"equal", Figure{Value: 10, Tolerance: 0.1}, 10, Same},
		{"at the upper end", Figure{Value: 10, Tolerance: 0.5}, 15, Same},
		{"above", Figure{Value: 10, Tolerance: 0.5}, 15.1, Worse},
		{"at the lower end", Figure{Value: 10, Tolerance: 0.5}, 5, Same},
		{"below", Figure{Value: 10, Tolerance: 0.5}, 4.9, Better},
		{"nothing where nothing was", Figure{Tolerance: 0.5}, 0, Same},
		{"something where nothing was", Figure{Tolerance: 0.5}, 0.001, Worse},
		{"no number", Figure{Value: 10, Tolerance: 0.5}, math.NaN(), Worse},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := Compare(map[string]Figure{"a": c.kept}, Measured{"a": {Value: c.measured}})
			require.Len(t, rows, 1)
			require.Equal(t, c.want, rows[0].Result)
			require.Equal(t, c.want == Worse, judge(rows) != nil)
		})
	}
}

func TestFiguresOfOneSideOnlyFail(t *testing.T) {
	rows := Compare(map[string]Figure{"b": {Value: 1}, "c": {Value: 2}}, Measured{"c": {Value: 2}, "a": {Value: 3}})
	require.Equal(t, []Row{
		{Name: "a", Measured: 3, Result: New},
		{Name: "b", Kept: Figure{Value: 1}, Result: Missing},
		{Name: "c", Kept: Figure{Value: 2}, Measured: 2, Result: Same},
	}, rows)
	require.ErrorContains(t, judge(rows), "2 of 3 figures failed, first a is NEW")
	require.ErrorContains(t, judge(rows), keepCommand)
	var out bytes.Buffer
	require.NoError(t, show(rows, &out))
	require.Equal(t, []string{"c", "2", "2", "+0.0", "%", "±0.0", "%", "ok"}, strings.Fields(strings.Split(out.String(), "\n")[3]))
}

func TestTolerancesAreTwiceTheNoise(t *testing.T) {
	run := func(exact, noisy, none float64) Measured {
		return Measured{"exact": {exact, 0.001}, "noisy": {noisy, 0.02}, "none": {none, 0.25}}
	}
	figures, err := figuresOf([]Measured{run(3, 100, 0), run(3, 90, 0), run(3, 105, 0)})
	require.NoError(t, err)
	require.Equal(t, map[string]Figure{
		"exact": {Value: 3, Tolerance: 0.001, Runs: []float64{3, 3, 3}},
		"noisy": {Value: 100, Tolerance: 0.2, Runs: []float64{100, 90, 105}},
		"none":  {Tolerance: 0.25, Runs: []float64{0, 0, 0}},
	}, figures)
	_, err = figuresOf([]Measured{run(3, 100, 0), {"exact": {3, 0.001}}})
	require.ErrorContains(t, err, "run 2")
}

// A figure whose noise is above this says too little to be kept.
const useful = 0.5

func TestKeptFiguresAreOfUse(t *testing.T) {
	s := Default()
	s.File = "figures.json"
	kept, err := s.read()
	require.NoError(t, err)
	require.NotEmpty(t, kept.Commit)
	for name, f := range kept.Figures {
		require.GreaterOrEqual(t, len(f.Runs), 5, name)
		require.Positive(t, f.Tolerance, name)
		require.LessOrEqual(t, f.Tolerance, useful, name)
		for _, value := range f.Runs {
			require.Equal(t, Same, Compare(map[string]Figure{name: f}, Measured{name: {Value: value}})[0].Result, name)
		}
	}
	all := len(kept.Figures)
	for _, part := range Parts() {
		s.Only = []string{part}
		kept, err := s.read()
		require.NoError(t, err)
		require.NotEmpty(t, kept.Figures, part)
		for name := range maps.Keys(kept.Figures) {
			require.True(t, strings.HasPrefix(name, part+": "), name)
		}
		all -= len(kept.Figures)
	}
	require.Zero(t, all, "each figure is of a part")
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(Parts()))), len(parts))
}

func TestFiguresOfSomePartsAreNotKeptAlone(t *testing.T) {
	s := Default()
	s.Only, s.Keep = Parts()[:1], 5
	require.ErrorContains(t, Run(t.Context(), s, &bytes.Buffer{}, &bytes.Buffer{}), "--only")
}
