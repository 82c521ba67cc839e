// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/collective"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// doneFor is how long etcd remembers that a job is done: for nodes that come too late, not for the next job of that name.
const doneFor = time.Minute

// Run is one node of an elastic job.
func Run(ctx context.Context, p *process.Process, launcher *rules.ElasticLauncher) (err error) {
	m, ctx, err := register(ctx, p, launcher)
	if err != nil {
		return err
	}
	defer func() { m.end(ctx, err) }()
	// What the node knows of the training outlives its rounds.
	var saved model.State
	var last []string
	for lost := 0; ; {
		var plan plan
		plan, err = m.meet(ctx)
		if errors.Is(err, errDone) {
			p.Say("%v", err)
			return nil
		}
		if err != nil {
			return err
		}
		if slices.Equal(plan.IDs, last) {
			lost++
		}
		last = plan.IDs
		err = m.round(ctx, plan, &saved)
		var gone collective.LostError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, errChanged) && !errors.As(err, &gone), !launcher.RestartsItself:
			return err
		case lost >= launcher.MaxRestart:
			return fmt.Errorf("after %d restarts with the same nodes: %w", lost, err)
		}
		p.Say("elastic: round ended: %v", err)
		if err = m.leave(ctx, plan.round); err != nil {
			return err
		}
	}
}

// round trains with the nodes of a plan until the end, or until they change.
func (m *member) round(ctx context.Context, plan plan, saved *model.State) error {
	rank := slices.Index(plan.IDs, m.own.ID)
	m.Say("elastic: rank %d of %d", rank, len(plan.IDs))
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		m.watch(ctx, plan.round, cancel)
	}()
	defer func() { <-watched }()
	defer cancel(nil)
	ring, err := collective.Join(ctx, m.Process, collective.Place{Rank: rank, Endpoints: plan.Endpoints, Round: plan.round})
	if err != nil {
		return err
	}
	defer ring.Close()
	member := train.Member{Rank: rank, World: len(plan.IDs)}
	return train.Run(ctx, m.Process, member, &exchange{Exchange: collective.NewExchange(ring), member: m, who: member, saved: saved})
}

// exchange is a ring's, which remembers its last checkpoint.
type exchange struct {
	*collective.Exchange
	member *member
	who    train.Member
	saved  *model.State
	began  model.State
}

// Begin offers what the node remembers, if that is more than its folder has.
func (e *exchange) Begin(ctx context.Context, offered model.State) (model.State, error) {
	if e.saved.Step > offered.Step {
		offered = *e.saved
	}
	state, err := e.Exchange.Begin(ctx, offered)
	e.began = state
	e.began.Grow(e.who.World)
	return state, err
}

// Params remembers the parameters at a checkpoint.
func (e *exchange) Params(ctx context.Context, step int) (params []float64, loss float64, err error) {
	params, loss, err = e.Exchange.Params(ctx, step)
	if every := e.member.Options.CheckpointEvery; err == nil && every > 0 && step%every == 0 {
		*e.saved = e.began
		e.saved.Step, e.saved.Params, e.saved.Loss = step, slices.Clone(params), loss
	}
	return params, loss, err
}

// End tells etcd that the job is done, before the first node goes.
func (e *exchange) End(ctx context.Context) error {
	if e.who.Rank == 0 {
		params, _, err := e.Exchange.Params(ctx, e.member.Options.Steps)
		if err != nil {
			return err
		}
		lease, err := e.member.etcd.grant(ctx, doneFor)
		if err == nil {
			err = e.member.etcd.put(ctx, e.member.prefix+doneKey, model.Hash(params), lease)
		}
		if err != nil {
			return err
		}
	}
	return e.Exchange.End(ctx)
}
