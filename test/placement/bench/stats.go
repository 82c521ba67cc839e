// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"math"
	"slices"
)

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func descending(a, b float64) int { return cmp.Compare(b, a) }

// p99 is the least of the sorted values that 99 of 100 do not exceed.
func p99(sorted []float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(math.Ceil(0.99*float64(len(sorted))))-1]
}

// edges of the bins of a distribution of ratios: a bin holds those above its own edge and up to the next.
var edges = []float64{1, 1.005, 1.01, 1.02, 1.05, 1.1, 1.15, 1.25, 1.5, 2}

// distribution counts sorted ratios: those that are 1, then those up to each further edge, then those above the last.
func distribution(sorted []float64) []Bin {
	bins := make([]Bin, 0, len(edges)+1)
	done := 0
	for _, edge := range edges {
		upTo, _ := slices.BinarySearchFunc(sorted, edge, func(v, edge float64) int {
			if v <= edge {
				return -1
			}
			return 1
		})
		bins = append(bins, Bin{UpTo: edge, Count: upTo - done})
		done = upTo
	}
	return append(bins, Bin{UpTo: math.MaxFloat32, Count: len(sorted) - done})
}
