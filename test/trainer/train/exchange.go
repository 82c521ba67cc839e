// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// Exchange is how a trainer shares parameters and gradients with the others.
type Exchange interface {
	// Begin agrees with all others on the state to begin with; what this trainer has is offered.
	Begin(ctx context.Context, offered model.State) (model.State, error)
	// Params returns the parameters after so many steps, and the mean loss of the last one's clicks.
	Params(ctx context.Context, step int) (params []float64, loss float64, err error)
	// Contribute adds this trainer's clicks to the step from the parameters.
	Contribute(ctx context.Context, step int, params []float64, clicks []model.Click) error
	// End waits for all others.
	End(ctx context.Context) error
}

// Member is who a trainer is.
type Member struct{ Rank, World int }
