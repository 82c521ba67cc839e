// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"context"
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// Run trains as one rank. A world of one trains alone.
func Run(ctx context.Context, p *process.Process, place Place) error {
	world := len(place.Endpoints)
	p.Say("trainer %d of %d in collective training", place.Rank, world)
	if place.Rank < 0 || place.Rank >= world {
		return fmt.Errorf("wrong rank: %d of %d trainers", place.Rank, world)
	}
	ring, err := Join(ctx, p, place)
	if err != nil {
		return err
	}
	defer ring.Close()
	return train.Run(ctx, p, train.Member{Rank: place.Rank, World: world}, &Exchange{ring: ring})
}

// Exchange keeps the parameters in each rank.
type Exchange struct {
	ring   *Ring
	params []float64
	step   int
	loss   float64
}

var _ train.Exchange = (*Exchange)(nil)

// NewExchange is the exchange of a ring.
func NewExchange(ring *Ring) *Exchange { return &Exchange{ring: ring} }

// Begin takes the state of the rank that has come furthest; of equal ones, the first's.
func (e *Exchange) Begin(ctx context.Context, offered model.State) (model.State, error) {
	steps := make([]int64, e.ring.world)
	steps[e.ring.rank] = int64(offered.Step)
	if err := e.ring.Sum(ctx, steps); err != nil {
		return offered, err
	}
	state, err := e.ring.Spread(ctx, slices.Index(steps, slices.Max(steps)), offered)
	if err != nil {
		return state, err
	}
	e.params, e.step, e.loss = slices.Clone(state.Params), state.Step, state.Loss
	return state, nil
}

// Params returns the rank's own.
func (e *Exchange) Params(_ context.Context, step int) (params []float64, loss float64, err error) {
	if step != e.step {
		return nil, 0, fmt.Errorf("the parameters are of step %d", e.step)
	}
	return e.params, e.loss, nil
}

// Contribute sums all ranks' gradients and takes the step.
func (e *Exchange) Contribute(ctx context.Context, step int, params []float64, clicks []model.Click) error {
	if step != e.step {
		return fmt.Errorf("the parameters are of step %d", e.step)
	}
	sums := model.Compute(params, clicks).Flat()
	if err := e.ring.Sum(ctx, sums); err != nil {
		return err
	}
	all := len(clicks) * e.ring.world
	model.Apply(e.params, 0, sums[:model.Size], all)
	e.loss = model.Mean(sums[model.Size], all)
	e.step++
	return nil
}

// End waits for all ranks.
func (e *Exchange) End(ctx context.Context) error {
	count := make([]int64, e.ring.world)
	count[e.ring.rank] = 1
	if err := e.ring.Sum(ctx, count); err != nil {
		return err
	}
	for rank, ended := range count {
		if ended != 1 {
			return fmt.Errorf("rank %d ended %d times", rank, ended)
		}
	}
	return nil
}
