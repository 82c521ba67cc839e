// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
)

// Settings are what all processes of a job must have alike, or their numbers differ.
type Settings struct {
	// Seed makes the clicks and the first parameters.
	Seed uint64
	// Batch is how many clicks each rank sees in a step.
	Batch int
}

// Replica is the training of all ranks in one process.
type Replica struct {
	Settings
	Params []float64
	// Step is how many steps it has taken, and Loss the mean loss of the last one's clicks.
	Step int
	Loss float64
}

// NewReplica returns a replica before its first step.
func NewReplica(settings Settings) *Replica {
	return &Replica{Settings: settings, Params: Init(settings.Seed)}
}

// Next takes the next step with so many ranks.
func (r *Replica) Next(world int) {
	sums := make([]int64, Size+1)
	for rank := range world {
		for i, value := range Compute(r.Params, Clicks(r.Seed, r.Step, rank, r.Batch)).Flat() {
			sums[i] += value
		}
	}
	clicks := world * r.Batch
	Apply(r.Params, 0, sums[:Size], clicks)
	r.Loss = Mean(sums[Size], clicks)
	r.Step++
}

// Check returns an error that names the first number of a job's that is not the replica's.
func (r *Replica) Check(step int, params []float64, loss float64) error {
	if step != r.Step || len(params) != len(r.Params) {
		return fmt.Errorf("%d parameters of step %d cannot be compared with %d of step %d", len(params), step, len(r.Params), r.Step)
	}
	for i, value := range params {
		if math.Float64bits(value) != math.Float64bits(r.Params[i]) {
			return fmt.Errorf("wrong sum: after %d steps parameter %d is %v, and %v where one process trains for all ranks", step, i, value, r.Params[i])
		}
	}
	if step > 0 && math.Float64bits(loss) != math.Float64bits(r.Loss) {
		return fmt.Errorf("wrong sum: the loss of step %d is %v, and %v where one process trains for all ranks", step, loss, r.Loss)
	}
	return nil
}
