// SPDX-License-Identifier: Apache-2.0

package model

import "math"

// Forward is what the front makes of a batch of clicks, and the middle begins with.
type Forward struct {
	// Wide has each click's sum of the wide part's weights, and Inputs the vectors of its values.
	Wide   []float64
	Inputs [][Inputs]float64
	Labels []float64
}

// Backward is what the front needs from the middle: how the loss of each click changes with its Wide and its Inputs.
type Backward struct {
	Wide   []float64
	Inputs [][Inputs]float64
}

// RunFront looks the clicks' values up. Only the front of params is read.
func RunFront(params []float64, clicks []Click) Forward {
	f := Forward{Wide: make([]float64, len(clicks)), Inputs: make([][Inputs]float64, len(clicks)), Labels: make([]float64, len(clicks))}
	for i := range clicks {
		f.Labels[i] = clicks[i].Label
		for field, value := range clicks[i].Values {
			f.Wide[i] += params[wideAt+value]
			copy(f.Inputs[i][field*Embedding:], params[embeddingAt+value*Embedding:embeddingAt+(value+1)*Embedding])
		}
	}
	return f
}

// RunMiddle runs the dense layer forwards and backwards, and returns the middle's own gradient and the loss, both summed
// over the clicks. Only the middle of params is read.
func RunMiddle(params []float64, f Forward) (b Backward, gradient []int64, loss int64) {
	b = Backward{Wide: make([]float64, len(f.Wide)), Inputs: make([][Inputs]float64, len(f.Wide))}
	sums := make([]float64, Size-denseAt)
	var total float64
	for i := range f.Wide {
		var units [Hidden]float64
		logit := f.Wide[i] + params[shiftAt]
		for h := range units {
			x := params[biasAt+h]
			for in, value := range f.Inputs[i] {
				x += float64(value * params[denseAt+in*Hidden+h])
			}
			units[h] = max(x, 0)
			logit += float64(units[h] * params[outAt+h])
		}
		total += logLoss(logit, f.Labels[i])
		slope := sigmoid(logit) - f.Labels[i]
		b.Wide[i] = slope
		sums[shiftAt-denseAt] += slope
		for h, unit := range units {
			if unit == 0 {
				continue
			}
			sums[outAt-denseAt+h] += float64(slope * unit)
			down := slope * params[outAt+h]
			sums[biasAt-denseAt+h] += down
			for in, value := range f.Inputs[i] {
				sums[in*Hidden+h] += float64(down * value)
				b.Inputs[i][in] += float64(down * params[denseAt+in*Hidden+h])
			}
		}
	}
	return b, fixed(sums), toFixed(total)
}

// EndFront returns the front's gradient, summed over the clicks.
func EndFront(clicks []Click, b Backward) []int64 {
	sums := make([]float64, denseAt)
	for i := range clicks {
		for field, value := range clicks[i].Values {
			sums[wideAt+value] += b.Wide[i]
			for e := range Embedding {
				sums[embeddingAt+value*Embedding+e] += b.Inputs[i][field*Embedding+e]
			}
		}
	}
	return fixed(sums)
}

// logLoss does not overflow, however far off the logit is.
func logLoss(logit, label float64) float64 {
	return max(logit, 0) - float64(logit*label) + math.Log1p(math.Exp(-math.Abs(logit)))
}
