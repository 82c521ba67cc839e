// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseMemory(t *testing.T) {
	t.Parallel()
	now, most, err := parseMemory("Name:\tetcd\nVmHWM:\t    2048 kB\nVmRSS:\t    1536 kB\n")
	require.NoError(t, err)
	require.Equal(t, [2]float64{1.5, 2}, [2]float64{now, most})
	_, _, err = parseMemory("Name:\tetcd\nVmHWM:\t    2048 kB\n")
	require.ErrorContains(t, err, "no VmRSS")
}
