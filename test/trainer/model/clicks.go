// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
)

// Click is one example: what was shown to whom, and whether it was clicked.
type Click struct {
	// Values are the features' values, each counted over all fields.
	Values [Fields]int
	// Label is 1 for a click and 0 for none.
	Label float64
}

// Streams of random numbers; those of the steps count from 0.
const (
	initStream    = math.MaxUint64
	truthStream   = math.MaxUint64 - 1
	heldOutStream = math.MaxUint64 - 2
)

// ranks bounds how many ranks have clicks of their own.
const ranks = 1 << 20

// Clicks returns what a rank trains on in a step; another rank or step has others.
func Clicks(seed uint64, step, rank, count int) []Click {
	return draw(seed, uint64(step)*ranks+uint64(rank), count) //nolint:gosec // neither is negative
}

// draw makes up clicks that depend on the values one by one, and on the first two together.
func draw(seed, stream uint64, count int) []Click {
	truth := source(seed, truthStream)
	var weights [Fields * Vocabulary]float64
	for i := range weights {
		weights[i] = 3 * (uniform(truth) - 0.5)
	}
	random := source(seed, stream)
	clicks := make([]Click, count)
	for i := range clicks {
		click := &clicks[i]
		logit := -0.5
		for field := range click.Values {
			value := field*Vocabulary + int(random.Uint64()%Vocabulary) //nolint:gosec // below 16
			click.Values[field] = value
			logit += weights[value]
		}
		if (click.Values[0]+click.Values[1])%2 == 0 {
			logit++
		}
		if uniform(random) < sigmoid(logit) {
			click.Label = 1
		}
	}
	return clicks
}

func source(seed, stream uint64) *rand.PCG { return rand.NewPCG(seed, stream) }

// uniform is from 0 to 1, without 1. It rests on the generator alone, so that releases of Go cannot change it.
func uniform(random *rand.PCG) float64 { return float64(random.Uint64()>>11) / (1 << 53) }

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
