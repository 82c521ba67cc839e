// SPDX-License-Identifier: Apache-2.0

// Package stats sums up measured numbers: medians with their bounds, means, slopes. It measures nothing itself.
package stats

import (
	"math"
	"slices"
)

// Mean is 0 for no values.
func Mean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Geomean returns the geometric mean of values above 0; 0 for none.
func Geomean(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// Median of values in any order: the mean of the middle two of an even number, 0 for none.
func Median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Percentile returns the least of the values, in any order, that this percentage of all does not exceed; 0 for none.
func Percentile(values []float64, percent int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(1, int(math.Ceil(float64(len(sorted)*percent)/100)))-1]
}

// MedianBounds returns the narrowest two of the values, equally far from both ends, between which the median of what they
// were drawn from lies with a probability of at least level, for any distribution; and that probability. Where the
// values are too few for the level, they are the least and the greatest.
func MedianBounds(values []float64, level float64) (low, high, probability float64) {
	n := len(values)
	if n == 0 {
		return 0, 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	// The median lies below the value at k with the probability that at most k of n coins show heads.
	left := math.Exp2(-float64(n))
	at, tail, one := 0, left, left
	for k := 1; k <= (n-1)/2; k++ {
		one *= float64(n-k+1) / float64(k)
		if 1-2*(tail+one) < level {
			break
		}
		at, tail = k, tail+one
	}
	return sorted[at], sorted[n-1-at], 1 - 2*tail
}

// Slope returns the median of the slopes between all pairs of points (Theil and Sen), which a few outliers do not move; 0 for
// fewer than two.
func Slope(x, y []float64) float64 {
	var slopes []float64
	for i := range x {
		for j := i + 1; j < len(x); j++ {
			if x[i] != x[j] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	return Median(slopes)
}
