// SPDX-License-Identifier: Apache-2.0

package model

// Sizes of the model.
const (
	// Fields is the number of categorical features of a click, each of Vocabulary values.
	Fields     = 4
	Vocabulary = 16
	// Embedding is the length of the vector of each value; all vectors of a click are the deep part's input.
	Embedding = 4
	Inputs    = Fields * Embedding
	// Hidden is the number of units of the dense layer.
	Hidden = 8
)

// Places of the parameters in one flat list: the front is what is looked up by a click's values, the middle is dense.
const (
	wideAt      = 0
	embeddingAt = wideAt + Fields*Vocabulary
	denseAt     = embeddingAt + Fields*Vocabulary*Embedding
	biasAt      = denseAt + Inputs*Hidden
	outAt       = biasAt + Hidden
	shiftAt     = outAt + Hidden
	// Size is the number of parameters.
	Size = shiftAt + 1
)

// Part is a contiguous range of the parameters, whose gradient is computed in one place.
type Part int

// Parts of the model. Trainers compute the gradient of the front; that of the middle is theirs too, or the
// heterogeneous trainers'.
const (
	Front Part = iota
	Middle
)

// Parts is the number of parts.
const Parts = 2

// Range returns the part's parameters: from low up to and without high.
func (p Part) Range() (low, high int) {
	if p == Front {
		return 0, denseAt
	}
	return denseAt, Size
}

func (p Part) String() string {
	if p == Front {
		return "front"
	}
	return "middle"
}

// Shard returns the parameters of one of several servers: from low up to and without high.
func Shard(index, servers int) (low, high int) {
	return index * Size / servers, (index + 1) * Size / servers
}

// Init returns the parameters before the first step.
func Init(seed uint64) []float64 {
	params := make([]float64, Size)
	random := source(seed, initStream)
	for i := embeddingAt; i < biasAt; i++ {
		params[i] = 0.5 * (uniform(random) - 0.5)
	}
	for i := outAt; i < shiftAt; i++ {
		params[i] = uniform(random) - 0.5
	}
	return params
}
