// SPDX-License-Identifier: Apache-2.0

package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseMetrics(t *testing.T) {
	t.Parallel()
	values, err := ParseMetrics(strings.NewReader("# HELP jobs Jobs by their phase.\n# TYPE jobs gauge\njobs{phase=\"Not yet\"} 2\n\nsum 1.5e+03\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]float64{`jobs{phase="Not yet"}`: 2, "sum": 1500}, values)
	_, err = ParseMetrics(strings.NewReader("sum of\n"))
	require.ErrorContains(t, err, `"sum of"`)
}

func TestParseMemory(t *testing.T) {
	t.Parallel()
	now, most, err := parseMemory("Name:\tetcd\nVmHWM:\t    2048 kB\nVmRSS:\t    1536 kB\n")
	require.NoError(t, err)
	require.Equal(t, [2]float64{1.5, 2}, [2]float64{now, most})
	_, _, err = parseMemory("Name:\tetcd\nVmHWM:\t    2048 kB\n")
	require.ErrorContains(t, err, "no VmRSS")
}
