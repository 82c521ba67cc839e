// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessorTimeGrows(t *testing.T) {
	t.Parallel()
	before, err := processor(os.Getpid())
	require.NoError(t, err)
	busy, err := machine()
	require.NoError(t, err)
	for after, more := before, busy; after <= before || more <= busy; {
		after, err = processor(os.Getpid())
		require.NoError(t, err)
		more, err = machine()
		require.NoError(t, err)
	}
	require.Positive(t, selfPeak())
	_, err = processor(1 << 30)
	require.ErrorIs(t, err, os.ErrNotExist)
}
