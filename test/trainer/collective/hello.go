// SPDX-License-Identifier: Apache-2.0

package collective

import (
	"fmt"
	"slices"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// hello is what a rank says to the next. All but From must be the same in both.
type hello struct {
	From      int
	Endpoints []string
	Round     int64
	Settings  model.Settings
	Steps     int
}

// fits says why a rank is not the one before, or not of the same world.
func (h *hello) fits(own hello, before int) error {
	switch {
	case h.Round != own.Round:
		return fmt.Errorf("wrong round: %d, and this is %d", h.Round, own.Round)
	case len(h.Endpoints) != len(own.Endpoints):
		return fmt.Errorf("wrong world size: rank %d reckons with %d ranks, and rank %d with %d", h.From, len(h.Endpoints), own.From, len(own.Endpoints))
	case !slices.Equal(h.Endpoints, own.Endpoints):
		return fmt.Errorf("wrong world: rank %d knows %v, and rank %d %v", h.From, h.Endpoints, own.From, own.Endpoints)
	case h.From != before:
		return fmt.Errorf("wrong rank: %d comes to rank %d, where %d belongs", h.From, own.From, before)
	case h.Settings != own.Settings || h.Steps != own.Steps:
		return fmt.Errorf("wrong training: rank %d has %+v and %d steps, and rank %d %+v and %d", h.From, h.Settings, h.Steps, own.From, own.Settings, own.Steps)
	}
	return nil
}
