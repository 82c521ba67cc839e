// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
)

// Shard is what one server holds: its parameters, and the gradients of the step that is under way.
type Shard struct {
	world, low, high int
	settings         model.Settings
	deadline         time.Duration

	mu sync.Mutex
	// changed is closed, and replaced, at every change.
	changed chan struct{}
	// now is the newest version; before is the one that a trainer may still be at that has come back. Nil is none.
	now, before *Version
	// got are the gradients of step now.Step, by rank.
	got  map[int]*[model.Parts]*Push
	done map[int]bool
}

// NewShard is a server's shard before it has parameters.
func NewShard(index, servers, world int, settings model.Settings, deadline time.Duration) *Shard {
	low, high := model.Shard(index, servers)
	return &Shard{world: world, low: low, high: high, settings: settings, deadline: deadline, changed: make(chan struct{}),
		got: map[int]*[model.Parts]*Push{}, done: map[int]bool{}}
}

// Welcome says how far the shard is.
func (s *Shard) Welcome() Welcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.welcome()
}

func (s *Shard) welcome() Welcome {
	if s.now == nil {
		return Welcome{}
	}
	return Welcome{Started: true, Step: s.now.Step}
}

// Ready waits until the shard has parameters.
func (s *Shard) Ready(ctx context.Context) (welcome Welcome, err error) {
	err = s.wait(ctx, func() (bool, error) {
		welcome = s.welcome()
		return welcome.Started, nil
	})
	return welcome, err
}

// Start gives the shard its parameters. The same once more changes nothing, anything else is an error.
func (s *Shard) Start(state model.State) error {
	state.Grow(s.world)
	first := Version{Step: state.Step, Params: slices.Clone(state.Params[s.low:s.high]), Loss: state.Loss, Worlds: state.Worlds}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.now == nil:
		s.now = &first
		s.change()
	case s.now.Step != first.Step || !slices.Equal(s.now.Params, first.Params):
		return fmt.Errorf("the server is at step %d already, and is told to start at step %d", s.now.Step, first.Step)
	}
	return nil
}

// Pull waits for the shard's parameters after so many steps.
func (s *Shard) Pull(ctx context.Context, step int) (Version, error) {
	var found Version
	err := s.wait(ctx, func() (bool, error) {
		switch {
		case s.now == nil || s.now.Step < step:
			return false, nil
		case s.now.Step == step:
			found = *s.now
		case s.before != nil && s.before.Step == step:
			found = *s.before
		default:
			return false, fmt.Errorf("the server is at step %d, and is asked for step %d", s.now.Step, step)
		}
		return true, nil
	})
	return found, err
}

// Push takes a gradient in; the last one of a step completes it. One that was counted already changes nothing.
func (s *Shard) Push(push Push) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, to := overlap(push.Part, s.low, s.high)
	switch {
	case push.Rank < 0 || push.Rank >= s.world:
		return fmt.Errorf("wrong rank: a gradient of trainer %d of %d", push.Rank, s.world)
	case s.now == nil:
		return fmt.Errorf("trainer %d pushes before the server has parameters", push.Rank)
	case len(push.Sums) != to-from:
		return fmt.Errorf("trainer %d pushes %d values of the %s, and %d are here", push.Rank, len(push.Sums), push.Part, to-from)
	case push.Step == s.now.Step-1 && s.before != nil:
		return nil
	case push.Step != s.now.Step:
		return fmt.Errorf("trainer %d pushes for step %d, and the server is at step %d", push.Rank, push.Step+1, s.now.Step+1)
	}
	parts := s.got[push.Rank]
	if parts == nil {
		parts = &[model.Parts]*Push{}
		s.got[push.Rank] = parts
	}
	if had := parts[push.Part]; had != nil && (!slices.Equal(had.Sums, push.Sums) || had.Loss != push.Loss) {
		return fmt.Errorf("wrong sum: trainer %d pushes two gradients of the %s for step %d: there are two of that rank", push.Rank, push.Part, push.Step+1)
	}
	parts[push.Part] = &push
	if len(s.missing()) == 0 {
		s.complete()
	}
	return nil
}
