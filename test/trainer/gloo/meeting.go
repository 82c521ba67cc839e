// SPDX-License-Identifier: Apache-2.0

package gloo

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/store"
)

// Meeting is how a process of a job with servers takes part.
type Meeting struct {
	rules.Gloo
	Servers  []string
	Trainers int
	Index    int
	IsServer bool
}

// on says whether there is anything to do: at a rendezvous in a file system the user's own variables would be needed.
func (m *Meeting) on() bool { return m.Level > 0 && m.HTTP }

func (m *Meeting) endpoint() string { return net.JoinHostPort(m.Host, strconv.Itoa(m.Port)) }

// Serve is a server's part: the first serves the store for as long as the context allows, and with level 2 all meet the
// trainers.
func (m *Meeting) Serve(ctx context.Context, p *process.Process) error {
	if !m.on() {
		return nil
	}
	if m.Serves {
		listener, err := p.Net.Listen(ctx, m.endpoint())
		if err != nil {
			return fmt.Errorf("gloo's store: %w", err)
		}
		p.Say("gloo's store listens at %s", m.endpoint())
		served := make(chan struct{})
		go func() {
			defer close(served)
			store.Serve(ctx, listener)
		}()
		defer func() { <-served }()
	}
	if m.Level < 2 {
		if m.Serves {
			<-ctx.Done()
		}
		return nil
	}
	group, err := m.join(ctx, p, "all", m.Trainers+m.Index, m.Trainers+len(m.Servers))
	if err != nil {
		return err
	}
	defer group.Close()
	if err := group.Barrier(ctx); err != nil {
		return err
	}
	p.Say("gloo: %d trainers and %d servers have met", m.Trainers, len(m.Servers))
	<-ctx.Done()
	return nil
}

// Join is a trainer's part: it returns the group of all trainers, of nobody where gloo is off.
func (m *Meeting) Join(ctx context.Context, p *process.Process) (*Group, error) {
	if !m.on() {
		return &Group{}, nil
	}
	if m.Level > 1 {
		all, err := m.join(ctx, p, "all", m.Index, m.Trainers+len(m.Servers))
		if err != nil {
			return nil, err
		}
		defer all.Close()
		if err := all.Barrier(ctx); err != nil {
			return nil, err
		}
	}
	group, err := m.join(ctx, p, "worker", m.Index, m.Trainers)
	if err != nil {
		return nil, err
	}
	if err := group.Barrier(ctx); err != nil {
		group.Close()
		return nil, err
	}
	p.Say("gloo: %d trainers have met", m.Trainers)
	return group, nil
}

func (m *Meeting) join(ctx context.Context, p *process.Process, name string, rank, size int) (*Group, error) {
	client := store.NewClient(p.Net, "gloo's store", m.endpoint())
	defer client.Close()
	group, err := join(ctx, p.Net, client, Hello{Group: name, From: rank, Size: size, Job: strings.Join(m.Servers, ",")}, p.Env["POD_IP"])
	if err != nil {
		return nil, fmt.Errorf("gloo: %w", err)
	}
	return group, nil
}
