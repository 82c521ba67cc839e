// SPDX-License-Identifier: Apache-2.0

package usage

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	seconds, err := parseStat("42 (a) (b c) S 1 42 42 0 -1 4194560 100 0 0 0 250 50 7 7 20 0 8 0 100 1000 200\n")
	require.NoError(t, err)
	require.InDelta(t, 3, seconds, 1e-9)
	_, err = parseStat("42 (a) S 1")
	require.ErrorContains(t, err, "too few fields")
	_, err = parseStat("42 (a) S 1 42 42 0 -1 4194560 100 0 0 0 x 50 7")
	require.Error(t, err)
}

func TestParseMachine(t *testing.T) {
	t.Parallel()
	seconds, err := parseMachine("cpu  100 200 300 9999 9999 40 50 60 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	require.NoError(t, err)
	require.InDelta(t, 7.5, seconds, 1e-9)
	_, err = parseMachine("intr 1 2 3\n")
	require.Error(t, err)
}

func TestProcessorTimeOfThisProcessGrows(t *testing.T) {
	t.Parallel()
	before, err := processor(os.Getpid())
	require.NoError(t, err)
	for after := before; after <= before; {
		after, err = processor(os.Getpid())
		require.NoError(t, err)
	}
	require.Positive(t, selfPeak())
	_, err = processor(1 << 30)
	require.ErrorIs(t, err, os.ErrNotExist)
}
