// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeans(t *testing.T) {
	require.Zero(t, Mean(nil))
	require.Zero(t, Geomean(nil))
	require.InDelta(t, 2.5, Mean([]float64{1, 4}), 1e-12)
	require.InDelta(t, 2, Geomean([]float64{1, 4}), 1e-12)
}

func TestMedian(t *testing.T) {
	require.Zero(t, Median(nil))
	require.InDelta(t, 3, Median([]float64{9, 1, 3}), 0)
	require.InDelta(t, 2.5, Median([]float64{9, 1, 3, 2}), 0)
}

func TestPercentile(t *testing.T) {
	require.Zero(t, Percentile(nil, 95))
	require.InDelta(t, 3, Percentile([]float64{3}, 95), 0)
	for percent, want := range map[int]float64{0: 1, 50: 10, 95: 19, 99: 20, 100: 20} {
		require.InDelta(t, want, Percentile(upTo(20), percent), 0)
	}
}

func upTo(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(n - i)
	}
	return values
}

// The ranks are those of any table of the sign test.
func TestMedianBounds(t *testing.T) {
	for _, c := range []struct {
		n                      int
		low, high, probability float64
	}{
		{5, 1, 5, 0.9375}, {6, 1, 6, 0.96875}, {15, 4, 12, 0.96484375}, {20, 6, 15, 0.958610535}, {31, 10, 22, 0.970550627},
	} {
		low, high, probability := MedianBounds(upTo(c.n), 0.95)
		require.InDelta(t, c.low, low, 0, "%d values", c.n)
		require.InDelta(t, c.high, high, 0, "%d values", c.n)
		require.InDelta(t, c.probability, probability, 1e-8, "%d values", c.n)
	}
	low, high, probability := MedianBounds(nil, 0.95)
	require.Equal(t, [3]float64{}, [3]float64{low, high, probability})
}

func TestSlope(t *testing.T) {
	require.Zero(t, Slope([]float64{1}, []float64{2}))
	require.InDelta(t, 3, Slope([]float64{0, 1, 2, 3, 4}, []float64{5, 8, 11, 1000, 17}), 1e-12)
}
