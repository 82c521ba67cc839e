// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/meet"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Every is the number of steps between two checkpoints, and between two lines of the log.
const Every = 10

// ErrCrash is the failure that --crash-at-step asks for.
var ErrCrash = errors.New("crash")

// Trainer is one trainer of a job.
type Trainer struct {
	*process.Process
	Rank, World int
	Mesh        *meet.Mesh
	// Memory is the last checkpoint that this process has seen, where its folder may have none.
	Memory State
	// BeforeEnd is called with the trained state before the first trainer ends.
	BeforeEnd func(context.Context, State) error
}

// Run trains until the last step.
func (t *Trainer) Run(ctx context.Context) error {
	if want := t.Options.ExpectWorld; want != 0 && want != t.World {
		return fmt.Errorf("wrong world size: %d trainers, and %d are expected", t.World, want)
	}
	attempt, err := t.countAttempt()
	if err != nil {
		return err
	}
	s, err := t.begin(ctx)
	if err != nil {
		return err
	}
	for s.Steps < t.Options.Steps {
		begin := time.Now()
		if t.Options.CrashAtStep == s.Steps && (t.Options.CrashRank < 0 || t.Options.CrashRank == t.Rank) && attempt == 1 {
			return fmt.Errorf("%w before step %d in attempt 1, as asked for", ErrCrash, s.Steps+1)
		}
		gradients, err := all[[]int64](ctx, t, fmt.Sprintf("step %d", s.Steps+1), gradient(s.Params, s.Steps, t.Rank))
		if err != nil {
			return err
		}
		s.Params = apply(s.Params, gradients)
		s.Steps++
		if s.Steps == 1 || s.Steps%Every == 0 {
			t.Say("step %d loss %.4f", s.Steps, loss(s.Params))
		}
		if s.Steps%Every == 0 {
			t.Memory = s
			if t.Rank == 0 {
				err = write(t.ModelDir(), CheckpointFile, s)
			}
		}
		if err == nil {
			err = wire.Sleep(ctx, t.Options.StepTime-time.Since(begin))
		}
		if err != nil {
			return err
		}
	}
	return t.end(ctx, s)
}

// all exchanges a value with all trainers, and checks that each rank has sent one.
func all[T any](ctx context.Context, t *Trainer, key string, own T) ([]T, error) {
	texts, err := t.Mesh.All(ctx, key, own)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if len(texts) != t.World {
		return nil, fmt.Errorf("%s: wrong world size: %d trainers have sent data, and there are %d", key, len(texts), t.World)
	}
	values := make([]T, len(texts))
	for rank, text := range texts {
		if err := json.Unmarshal(text, &values[rank]); err != nil {
			return nil, fmt.Errorf("%s: rank %d sends %s: %w", key, rank, text, err)
		}
	}
	return values, nil
}

// begin agrees with all trainers on the furthest state that one of them has.
func (t *Trainer) begin(ctx context.Context) (State, error) {
	s, err := load(t.ModelDir())
	if err != nil {
		return s, err
	}
	if t.Memory.Steps > s.Steps {
		s = t.Memory
	}
	offered, err := all(ctx, t, "the first state", s)
	if err != nil {
		return s, err
	}
	s = offered[0]
	for _, other := range offered {
		if other.Steps > s.Steps {
			s = other
		}
	}
	if s.Steps > t.Options.Steps {
		return s, fmt.Errorf("the checkpoint is of step %d, and the job has %d steps", s.Steps, t.Options.Steps)
	}
	if s.Steps > 0 {
		t.Say("resumed from step %d", s.Steps)
	}
	s.grow(t.World)
	return s, nil
}

func (t *Trainer) end(ctx context.Context, s State) error {
	first, last := loss(make([]float64, size)), loss(s.Params)
	if last >= first {
		return fmt.Errorf("the loss has not fallen: %.4f -> %.4f after %d steps", first, last, s.Steps)
	}
	if t.Rank == 0 {
		if err := write(t.ModelDir(), ModelFile, s); err != nil {
			return err
		}
	}
	if t.BeforeEnd != nil {
		if err := t.BeforeEnd(ctx, s); err != nil {
			return err
		}
	}
	if _, err := all(ctx, t, "the end", Hash(s.Params)); err != nil {
		return err
	}
	t.Say("trained: loss %.4f -> %.4f, model sha256 %s", first, last, Hash(s.Params))
	return t.Mesh.Bye()
}

// countAttempt counts how often this trainer has started, in a file next to its checkpoints.
func (t *Trainer) countAttempt() (attempt int, err error) {
	if t.Options.CrashAtStep < 0 {
		return 1, nil
	}
	name := fmt.Sprintf("attempts-%d", t.Rank)
	if text, err := os.ReadFile(filepath.Join(t.ModelDir(), name)); err == nil { //nolint:gosec // the user's own folder
		if err := json.Unmarshal(text, &attempt); err != nil {
			return 0, fmt.Errorf("%s is not a number: %w", name, err)
		}
	}
	return attempt + 1, write(t.ModelDir(), name, attempt+1)
}
