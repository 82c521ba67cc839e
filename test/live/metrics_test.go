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
