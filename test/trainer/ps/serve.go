// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"errors"
	"net"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// serve is a server: it runs until it is told to end, or until all trainers are done if the options say so.
func serve(ctx context.Context, p *process.Process, role *rules.PSRole) error {
	listener, err := p.Net.Listen(ctx, role.Endpoint)
	if err != nil {
		return err
	}
	shard := NewShard(role.Index, len(role.Servers), role.Workers, p.Settings(), p.Net.Deadline)
	low, high := model.Shard(role.Index, len(role.Servers))
	p.Say("server %d of %d listens at %s for %d trainers: parameters %d to %d", role.Index, len(role.Servers), role.Endpoint, role.Workers, low, high)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	served := make(chan struct{})
	go func() {
		defer close(served)
		wire.Serve(ctx, listener, func(ctx context.Context, conn net.Conn) {
			session := &Session{ctx: ctx, process: p, shard: shard, own: greet(p, role, role.Index)}
			_ = wire.ServeRPC(conn, "Server", session) // its methods are as they must be
			session.left()
		})
	}()
	defer func() { <-served }()
	defer cancel()
	if err := shard.AllDone(ctx); err != nil {
		return err
	}
	p.Say("all %d trainers are done", role.Workers)
	if p.Options.ServersExit {
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// Session is what one client may call.
type Session struct {
	//nolint:containedctx // net/rpc hands none over
	ctx     context.Context
	process *process.Process
	shard   *Shard
	own     Hello
	client  *Hello
	done    bool
}

var errStranger = errors.New("say hello first")

// Hello lets a client of the same job in.
func (s *Session) Hello(client Hello, welcome *Welcome) error {
	if err := client.fits(s.own); err != nil {
		s.process.Say("refused: %v", err)
		return err
	}
	s.process.Say("%s %d is here", client.Role, client.Index)
	s.client = &client
	*welcome = s.shard.Welcome()
	return nil
}

// Start takes the first parameters, from trainer 0.
func (s *Session) Start(state model.State, _ *Nothing) error {
	if s.client == nil || s.client.Role != rules.Trainer || s.client.Index != 0 {
		return errors.New("only trainer 0 brings parameters")
	}
	return s.shard.Start(state)
}

// Ready waits until the shard has parameters.
func (s *Session) Ready(_ Nothing, welcome *Welcome) (err error) {
	if s.client == nil {
		return errStranger
	}
	*welcome, err = s.shard.Ready(s.ctx)
	return err
}

// Pull returns the shard after so many steps.
func (s *Session) Pull(step int, version *Version) (err error) {
	if s.client == nil {
		return errStranger
	}
	*version, err = s.shard.Pull(s.ctx, step)
	return err
}

// Push takes a gradient, from the trainer itself or from the heterogeneous trainer that computed it.
func (s *Session) Push(push Push, _ *Nothing) error {
	switch {
	case s.client == nil:
		return errStranger
	case s.client.Role == rules.Trainer && s.client.Index != push.Rank:
		return errors.New("wrong rank: a trainer pushes its own gradients only")
	}
	return s.shard.Push(push)
}

// Done notes that a trainer is about to hang up.
func (s *Session) Done(_ Nothing, _ *Nothing) error {
	if s.client == nil || s.client.Role != rules.Trainer {
		return errStranger
	}
	s.done = true
	return nil
}

// left notes that a client has hung up. Only then a trainer is done: a server that ended on its last word would leave it
// without an answer. One that has gone too early may come back.
func (s *Session) left() {
	if s.done {
		s.shard.Done(s.client.Index)
		return
	}
	if s.client != nil && s.client.Role == rules.Trainer && s.ctx.Err() == nil {
		s.process.Say("%s %d has gone before it was done", s.client.Role, s.client.Index)
	}
}
