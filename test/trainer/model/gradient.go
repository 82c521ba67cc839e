// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// unit is the fixed point of gradients and losses: 2^-40, so that a sum stays below 2^63 while it is below 2^23.
const unit = 1.0 / (1 << 40)

// Rates of learning. A value of the front is in one click of 16, which makes its gradient small.
const (
	frontRate  = 2.0
	middleRate = 0.3
)

// Gradient is the sum over a batch, in fixed point: the parts' gradients and the loss.
type Gradient struct {
	Parts [Parts][]int64
	Loss  int64
}

// Compute returns a batch's gradient at the parameters, all of it computed in one place.
func Compute(params []float64, clicks []Click) Gradient {
	back, middle, loss := RunMiddle(params, RunFront(params, clicks))
	return Gradient{Parts: [Parts][]int64{Front: EndFront(clicks, back), Middle: middle}, Loss: loss}
}

// Flat returns the parts' gradients as one list, in the order of the parameters, and the loss behind them.
func (g Gradient) Flat() []int64 {
	flat := make([]int64, 0, Size+1)
	for _, part := range g.Parts {
		flat = append(flat, part...)
	}
	return append(flat, g.Loss)
}

// Apply takes a step down the gradient, which is the sum over so many clicks. The first of params is number low of the
// model's parameters.
func Apply(params []float64, low int, sums []int64, clicks int) {
	_, frontEnd := Front.Range()
	for i, sum := range sums {
		rate := middleRate
		if low+i < frontEnd {
			rate = frontRate
		}
		// The conversion keeps processors from rounding once where others round twice.
		params[i] -= float64(rate * Mean(sum, clicks))
	}
}

// Mean returns a sum over so many clicks as their mean.
func Mean(sum int64, clicks int) float64 { return float64(float64(sum)*unit) / float64(clicks) }

func fixed(values []float64) []int64 {
	rounded := make([]int64, len(values))
	for i, value := range values {
		rounded[i] = toFixed(value)
	}
	return rounded
}

func toFixed(value float64) int64 { return int64(math.RoundToEven(value / unit)) }
