// SPDX-License-Identifier: Apache-2.0

// Package train trains a logistic regression of generated clicks in step with the other ranks of a job.
//
// Each rank's gradient is rounded to integers, so that their sum is exact. The model is the same bit by bit for the same
// number of ranks in each step, and another one where a rank is missing or is there twice.
package train

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
)

const (
	fields, vocabulary = 4, 8
	// size is the number of parameters: one for each value of each field, and the bias.
	size = fields*vocabulary + 1
	// batch is how many clicks each rank sees in a step.
	batch = 64
	rate  = 2.0
	unit  = 1.0 / (1 << 40)
	// heldOut is the stream of the clicks that no rank trains on.
	heldOut = math.MaxUint64
)

type click struct {
	values [fields]int
	label  float64
}

// clicks draws the clicks of a stream. Whether a click happens depends on the sum of its values.
func clicks(stream uint64) []click {
	random := rand.NewPCG(1, stream)
	drawn := make([]click, batch)
	for i := range drawn {
		sum := 0
		for field := range fields {
			value := int(random.Uint64() % vocabulary) //nolint:gosec // below 8
			drawn[i].values[field] = field*vocabulary + value
			sum += value
		}
		if noise := int(random.Uint64() % 5); sum+noise > 16 { //nolint:gosec // below 5
			drawn[i].label = 1
		}
	}
	return drawn
}

func predict(params []float64, c *click) float64 {
	logit := params[size-1]
	for _, value := range c.values {
		logit += params[value]
	}
	return 1 / (1 + math.Exp(-logit))
}

// gradient returns that of one rank in one step.
func gradient(params []float64, step, rank int) []int64 {
	sums := make([]int64, size)
	drawn := clicks(uint64(step)<<20 + uint64(rank)) //nolint:gosec // neither is negative
	for i := range drawn {
		off := int64(math.RoundToEven((predict(params, &drawn[i]) - drawn[i].label) / unit))
		for _, value := range append(drawn[i].values[:], size-1) {
			sums[value] += off
		}
	}
	return sums
}

// apply returns the parameters after a step with the gradients of all ranks.
func apply(params []float64, gradients [][]int64) []float64 {
	next := make([]float64, size)
	for i := range next {
		var sum int64
		for _, g := range gradients {
			sum += g[i]
		}
		next[i] = params[i] - float64(rate*float64(float64(sum)*unit)/float64(batch*len(gradients)))
	}
	return next
}

// loss returns that of clicks that no rank trains on.
func loss(params []float64) float64 {
	total, drawn := 0.0, clicks(heldOut)
	for i := range drawn {
		p := predict(params, &drawn[i])
		total -= drawn[i].label*math.Log(p) + (1-drawn[i].label)*math.Log(1-p)
	}
	return total / batch
}

// Hash identifies parameters.
func Hash(params []float64) string {
	sum := sha256.New()
	for _, value := range params {
		_ = binary.Write(sum, binary.LittleEndian, value) // a hash does not fail
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Segment says how many ranks trained from a step on.
type Segment struct{ From, World int }

// Model returns the parameters that one process gets which trains the steps of all ranks.
func Model(worlds []Segment, steps int) []float64 {
	params := make([]float64, size)
	for step, at := 0, 0; step < steps; step++ {
		for at+1 < len(worlds) && worlds[at+1].From <= step {
			at++
		}
		gradients := make([][]int64, worlds[at].World)
		for rank := range gradients {
			gradients[rank] = gradient(params, step, rank)
		}
		params = apply(params, gradients)
	}
	return params
}
