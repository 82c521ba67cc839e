// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Run trains as one member, and compares every number with what one process gets for all ranks.
func Run(ctx context.Context, p *process.Process, who Member, exchange Exchange) error {
	if want := p.Options.ExpectWorld; want != 0 && want != who.World {
		return fmt.Errorf("wrong world size: %d trainers, and %d are expected", who.World, want)
	}
	if who.Rank < 0 || who.Rank >= who.World {
		return fmt.Errorf("wrong rank: %d of %d trainers", who.Rank, who.World)
	}
	c := &course{Process: p, Member: who, exchange: exchange}
	if err := c.begin(ctx); err != nil {
		return err
	}
	for c.state.Step < p.Options.Steps {
		if err := c.step(ctx); err != nil {
			return err
		}
	}
	return c.end(ctx)
}

// course is one run of one member.
type course struct {
	*process.Process
	Member
	exchange Exchange
	attempt  int
	state    model.State
	replica  *model.Replica
}

func (c *course) begin(ctx context.Context) error {
	var err error
	if c.attempt, err = c.countAttempt(); err != nil {
		return err
	}
	offered, err := Load(c.ModelDir(), c.Settings())
	if err != nil {
		return err
	}
	if c.state, err = c.exchange.Begin(ctx, offered); err != nil {
		return err
	}
	if c.state.Step > c.Options.Steps {
		return fmt.Errorf("the checkpoint is of step %d, and the job has %d steps", c.state.Step, c.Options.Steps)
	}
	if c.replica, err = c.state.Replay(); err != nil {
		return err
	}
	if c.state.Step > 0 {
		c.Say("resumed from step %d", c.state.Step)
	}
	c.state.Grow(c.World)
	return nil
}

// step takes one step. It begins with the parameters that are there, whoever summed them.
func (c *course) step(ctx context.Context) error {
	begin := time.Now()
	if err := c.crash(); err != nil {
		return err
	}
	clicks := model.Clicks(c.Options.Seed, c.state.Step, c.Rank, c.Options.Batch)
	if err := c.exchange.Contribute(ctx, c.state.Step, c.state.Params, clicks); err != nil {
		return fmt.Errorf("step %d: %w", c.state.Step+1, err)
	}
	c.replica.Next(c.World)
	if err := c.read(ctx, c.state.Step+1); err != nil {
		return err
	}
	if c.state.Step == 1 || c.state.Step%c.Options.LogEvery == 0 {
		// The loss of clicks that nobody trains on: a step's own would go up and down with its clicks.
		c.Say("step %d loss %.4f", c.state.Step, model.Loss(c.Options.Seed, c.state.Params))
	}
	if every := c.Options.CheckpointEvery; c.Rank == 0 && every > 0 && c.state.Step%every == 0 {
		if err := Save(c.ModelDir(), c.state); err != nil {
			return err
		}
	}
	if left := c.Options.StepTime - time.Since(begin); left > 0 {
		return wire.Sleep(ctx, left)
	}
	return nil
}

// read takes over the parameters after so many steps.
func (c *course) read(ctx context.Context, step int) error {
	params, loss, err := c.exchange.Params(ctx, step)
	if err != nil {
		return fmt.Errorf("step %d: %w", step, err)
	}
	if err := c.replica.Check(step, params, loss); err != nil {
		return err
	}
	c.state.Step, c.state.Params, c.state.Loss = step, slices.Clone(params), loss
	return nil
}

func (c *course) end(ctx context.Context) error {
	first, last := model.Loss(c.Options.Seed, model.Init(c.Options.Seed)), model.Loss(c.Options.Seed, c.state.Params)
	if last >= first {
		return fmt.Errorf("the loss has not fallen: %.4f -> %.4f after %d steps", first, last, c.state.Step)
	}
	if c.Rank == 0 {
		if err := writeModel(c.ModelDir(), c.state); err != nil {
			return err
		}
	}
	if err := c.exchange.End(ctx); err != nil {
		return fmt.Errorf("after the last step: %w", err)
	}
	c.Say("trained: loss %.4f -> %.4f, model sha256 %s", first, last, model.Hash(c.state.Params))
	return nil
}
