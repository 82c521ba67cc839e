// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/meet"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// Collective trains as one rank of several, in a separate round.
type Collective func(ctx context.Context, t *train.Trainer, endpoints []string, round string) error

// Run is one node of an elastic job.
func Run(ctx context.Context, p *process.Process, launcher *rules.ElasticLauncher, collective Collective) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m, ctx, err := register(ctx, p, launcher)
	if err != nil {
		return err
	}
	t := &train.Trainer{Process: p, BeforeEnd: func(ctx context.Context, s train.State) error {
		lease, err := m.etcd.grant(ctx, doneFor)
		if err == nil {
			err = m.etcd.put(ctx, m.prefix+"done", train.Hash(s.Params), lease)
		}
		return err
	}}
	err = m.rounds(ctx, t, collective)
	if !errors.Is(err, train.ErrCrash) { // a crash does not deregister
		m.deregister(ctx)
	}
	if errors.Is(err, errDone) {
		p.Say("%v", err)
		return nil
	}
	return err
}

// rounds trains in one round after the other until the model is trained.
func (m *member) rounds(ctx context.Context, t *train.Trainer, collective Collective) error {
	var last []string
	for lost := 0; ; {
		r, err := m.meet(ctx)
		if err != nil {
			return err
		}
		if slices.Equal(r.keys, last) {
			lost++
		}
		last = r.keys
		err = m.round(ctx, t, r, collective)
		var gone meet.LostError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !errors.Is(err, errChanged) && !errors.As(err, &gone), !m.launcher.RestartsItself:
			return err
		case lost >= m.launcher.MaxRestart:
			return fmt.Errorf("after %d restarts with the same nodes: %w", lost, err)
		}
		m.Say("elastic: round ended: %v", err)
	}
}

func (m *member) round(ctx context.Context, t *train.Trainer, r round, collective Collective) error {
	t.Rank, t.World = slices.Index(r.endpoints, m.endpoint), len(r.keys)
	m.Say("elastic: rank %d of %d", t.Rank, t.World)
	ctx, cancel := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		m.watch(ctx, r, cancel)
	}()
	defer func() { <-watched }()
	defer cancel(nil)
	err := collective(ctx, t, r.endpoints, strings.Join(r.keys, ","))
	if err != nil && errors.Is(context.Cause(ctx), errChanged) {
		return errChanged
	}
	return err
}
