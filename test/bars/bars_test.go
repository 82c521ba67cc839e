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
		// met are the verdicts below, at and above the limit, and on what is no number.
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
}
