// SPDX-License-Identifier: Apache-2.0

package ps

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/model"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// middle runs the dense part of the model for trainers, until all of them are done.
func middle(ctx context.Context, p *process.Process, role *rules.PSRole) error {
	listener, err := p.Net.Listen(ctx, role.Endpoint)
	if err != nil {
		return err
	}
	p.Say("heterogeneous trainer %d of %d listens at %s for %d trainers, on %s", role.Index, len(role.Heter.All), role.Endpoint, role.Workers, role.Heter.Device)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := &Middles{ctx: ctx, role: role, ready: make(chan struct{}), all: make(chan struct{}), done: map[int]bool{}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		wire.Serve(ctx, listener, func(_ context.Context, conn net.Conn) {
			session := &MiddleSession{Middles: m}
			_ = wire.ServeRPC(conn, "Middle", session) // its methods are as they must be
			session.left()
		})
	}()
	defer func() { <-served }()
	defer cancel()
	if m.servers, err = meet(ctx, p, role); err != nil {
		return err
	}
	defer m.servers.close()
	close(m.ready)
	select {
	case <-m.all:
		p.Say("all %d trainers are done", role.Workers)
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Middles is what all sessions share.
type Middles struct {
	//nolint:containedctx // net/rpc hands none over
	ctx  context.Context
	role *rules.PSRole
	// ready is closed once servers is there, all once all trainers are done.
	ready, all chan struct{}
	servers    *servers

	mu   sync.Mutex
	done map[int]bool
}

// Hello lets a trainer of the same job in.
func (m *Middles) Hello(client Hello, _ *Nothing) error {
	switch {
	case client.Role != rules.Trainer || client.Index < 0 || client.Index >= m.role.Workers:
		return fmt.Errorf("wrong rank: %s %d of %d trainers", client.Role, client.Index, m.role.Workers)
	case client.World != m.role.Workers:
		return fmt.Errorf("wrong world size: trainer %d reckons with %d trainers, and heterogeneous trainer %d with %d", client.Index, client.World, m.role.Index, m.role.Workers)
	case client.Server != m.role.Index:
		return fmt.Errorf("wrong address: trainer %d looks for heterogeneous trainer %d, and this is %d", client.Index, client.Server, m.role.Index)
	case !slices.Equal(client.Servers, m.role.Heter.All):
		return fmt.Errorf("wrong world: trainer %d knows the heterogeneous trainers %v, and number %d %v", client.Index, client.Servers, m.role.Index, m.role.Heter.All)
	}
	return nil
}

// Run runs the middle of the model for a trainer's clicks, and pushes its gradient.
func (m *Middles) Run(task MiddleTask, back *model.Backward) error {
	select {
	case <-m.ready:
	case <-m.ctx.Done():
		return context.Cause(m.ctx)
	}
	state, err := m.servers.pull(m.ctx, task.Step)
	if err != nil {
		return err
	}
	var push Push
	*back, push.Sums, push.Loss = model.RunMiddle(state.Params, task.Forward)
	push.Rank, push.Step, push.Part = task.Rank, task.Step, model.Middle
	return m.servers.push(m.ctx, push)
}

// MiddleSession is what one trainer may call.
type MiddleSession struct {
	*Middles
	// ends is the rank of the trainer, once it is about to hang up.
	ends *int
}

// Done notes that a trainer is about to hang up.
func (s *MiddleSession) Done(rank int, _ *Nothing) error {
	s.ends = &rank
	return nil
}

// left notes that a trainer has hung up. Only then it is done: whoever ended on its last word would leave it without an
// answer.
func (s *MiddleSession) left() {
	if s.ends == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done[*s.ends] {
		return
	}
	if s.done[*s.ends] = true; len(s.done) == s.role.Workers {
		close(s.all)
	}
}

// meetMiddles connects a trainer to all heterogeneous trainers.
func meetMiddles(ctx context.Context, p *process.Process, role *rules.PSRole) (middles []*wire.Client, err error) {
	for i, endpoint := range role.Heter.Next {
		client, err := p.Net.Call(ctx, fmt.Sprintf("heterogeneous trainer %d", i), endpoint)
		if err != nil {
			return nil, err
		}
		hello := greet(p, role, i)
		hello.Servers = role.Heter.All
		if err := client.Do(ctx, "Middle.Hello", hello, new(Nothing)); err != nil {
			return nil, err
		}
		middles = append(middles, client)
	}
	return middles, nil
}

func (e *exchange) closeMiddles() {
	for _, middle := range e.middles {
		middle.Close()
	}
}
