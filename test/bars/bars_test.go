// SPDX-License-Identifier: Apache-2.0

package bars

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		bar func(string, float64, float64) Bar
		// met are the results below, at and above the limit, and on what is no number.
		met [4]bool
	}{
		{Most, [4]bool{true, true, false, false}},
		{Least, [4]bool{false, true, true, false}},
		{Above, [4]bool{false, false, true, false}},
	} {
		for i, is := range []float64{1, 2, 3, math.NaN()} {
			require.Equal(t, c.met[i], c.bar("", is, 2).Met, "%v", c.bar("", is, 2))
		}
	}
}

func TestShow(t *testing.T) {
	var table strings.Builder
	require.NoError(t, Show([]Bar{Most("seconds", 1.5, 2), Above("gain", 1, 1)}, &table))
	lines := strings.Split(table.String(), "\n")
	require.Equal(t, []string{"met", "seconds", "1.5", "<=", "2"}, strings.Fields(lines[0]))
	require.Equal(t, []string{"MISSED", "gain", "1", ">", "1"}, strings.Fields(lines[1]))
	require.Equal(t, "1 of 2 missed", lines[2])
	table.Reset()
	require.NoError(t, Show(nil, &table))
	require.Empty(t, table.String(), "nothing was asked for")
}

func TestSlicesAreNotJudged(t *testing.T) {
	judged := append(OfSlice(false, Most("small", 3, 2), Most("smaller", 1, 2)), OfSlice(true, Most("whole", 3, 2))...)
	require.Equal(t, []string{"slice", "slice", "missed"}, []string{judged[0].Result(), judged[1].Result(), judged[2].Result()})
	require.Equal(t, []int{1, 2}, []int{Missed(judged), Sliced(judged)})
	require.Equal(t, []string{"slice", "met"}, []string{Whole("instances", 9, 10).Result(), Whole("instances", 10, 10).Result()})
	var table strings.Builder
	require.NoError(t, Show(judged, &table))
	require.Contains(t, table.String(), "slice   small")
	require.Contains(t, table.String(), "1 of 1 missed; 2 not judged")
}
