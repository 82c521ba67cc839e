// SPDX-License-Identifier: Apache-2.0

package churn

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestJobsComeAreBoundAndGo(t *testing.T) {
	var progress strings.Builder
	stock, paddle, err := Measure(Settings{Seed: 1, Sessions: 100, Before: 30}, &progress)
	require.NoError(t, err)
	for _, s := range []*Series{stock, paddle} {
		require.Len(t, s.Heap, samples)
		require.Equal(t, 2, s.Every)
		require.Greater(t, s.Came, 50)
		require.Greater(t, s.Bound, 20)
		require.Greater(t, s.Gone, 20)
		require.Less(t, s.Bound, s.Came, "some fit nowhere")
		require.GreaterOrEqual(t, s.Before, 30)
		require.Less(t, s.Before, 30+most)
		require.Positive(t, s.Heap[0])
		require.Positive(t, s.Goroutines[0])
	}
	require.Equal(t, 10, strings.Count(progress.String(), "\n"))
	require.Equal(t, stock.Came, paddle.Came, "the same jobs come")
}

func TestGrowthIsTheMedianSlope(t *testing.T) {
	s := Series{Sessions: 80, Every: 10, Heap: []float64{1000, 1010, 1020, 1030, 9000, 1050, 1060, 1070}}
	s.finish()
	require.InDelta(t, 1, s.Slope, 1e-12)
	require.InDelta(t, 80./1040, s.Growth, 1e-12)
	(&Series{}).finish()
}
