// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// servers are all servers as a client sees them.
type servers struct {
	clients  []*wire.Client
	welcomes []Welcome
	// stop ends all connections.
	stop context.CancelCauseFunc
}

// meet connects to all servers.
func meet(ctx context.Context, p *process.Process, role *rules.PSRole) (*servers, error) {
	s := &servers{clients: make([]*wire.Client, len(role.Servers)), welcomes: make([]Welcome, len(role.Servers))}
	// The connections outlive the asking, but not the first failure.
	ctx, s.stop = context.WithCancelCause(ctx)
	err := s.each(ctx, func(asking context.Context, i int) (err error) {
		if s.clients[i], err = p.Net.Call(ctx, fmt.Sprintf("server %d", i), role.Servers[i]); err == nil {
			err = s.clients[i].Do(asking, "Server.Hello", greet(p, role, i), &s.welcomes[i])
		}
		if err != nil {
			s.stop(err)
		}
		return err
	})
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *servers) close() {
	s.stop(nil)
	for _, client := range s.clients {
		if client != nil {
			client.Close()
		}
	}
}

// each asks all servers at once, and waits for no more of them when one has failed.
func (s *servers) each(ctx context.Context, ask func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for i := range s.clients {
		group.Go(func() error { return ask(ctx, i) })
	}
	return group.Wait()
}

// start brings the first parameters. Servers that have gone on from them are left as they are.
func (s *servers) start(ctx context.Context, state model.State) error {
	for i, welcome := range s.welcomes {
		if !welcome.Started {
			continue
		}
		for j, other := range s.welcomes {
			if !other.Started && welcome.Step != state.Step {
				return fmt.Errorf("server %d has no parameters, and server %d is at step %d: the job must restart as a whole", j, i, welcome.Step)
			}
		}
	}
	return s.each(ctx, func(ctx context.Context, i int) error {
		if s.welcomes[i].Started {
			return nil
		}
		return s.clients[i].Do(ctx, "Server.Start", state, new(Nothing))
	})
}

// ready waits until all servers have parameters, and returns the step that the last of them is at.
func (s *servers) ready(ctx context.Context) (step int, err error) {
	err = s.each(ctx, func(ctx context.Context, i int) error {
		return s.clients[i].Do(ctx, "Server.Ready", Nothing(true), &s.welcomes[i])
	})
	if err != nil {
		return 0, err
	}
	step = s.welcomes[0].Step
	for _, welcome := range s.welcomes {
		step = min(step, welcome.Step)
	}
	return step, nil
}

// pull returns all parameters after so many steps.
func (s *servers) pull(ctx context.Context, step int) (model.State, error) {
	state := model.State{Step: step, Params: make([]float64, model.Size)}
	versions := make([]Version, len(s.clients))
	err := s.each(ctx, func(ctx context.Context, i int) error { return s.clients[i].Do(ctx, "Server.Pull", step, &versions[i]) })
	if err != nil {
		return state, err
	}
	for i, version := range versions {
		low, high := model.Shard(i, len(s.clients))
		if version.Step != step || len(version.Params) != high-low {
			return state, fmt.Errorf("server %d has sent %d parameters of step %d, not %d of step %d", i, len(version.Params), version.Step, high-low, step)
		}
		copy(state.Params[low:], version.Params)
		// The loss comes with the middle of the model, which every server counts.
		if i > 0 && version.Loss != state.Loss {
			return state, fmt.Errorf("wrong sum: the loss of step %d is %v at server %d, and %v at server %d", step, state.Loss, i-1, version.Loss, i)
		}
		state.Loss, state.Worlds = version.Loss, version.Worlds
	}
	return state, nil
}

// push hands each server its share of a part's gradient.
func (s *servers) push(ctx context.Context, push Push) error {
	partLow, _ := push.Part.Range()
	return s.each(ctx, func(ctx context.Context, i int) error {
		low, high := model.Shard(i, len(s.clients))
		from, to := overlap(push.Part, low, high)
		share := push
		share.Sums = push.Sums[from-partLow : to-partLow]
		return s.clients[i].Do(ctx, "Server.Push", share, new(Nothing))
	})
}
