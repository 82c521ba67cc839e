// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/conformance/rules"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/meet"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/process"
	"github.com/paddle-volcano/paddle-volcano/test/trainer/train"
)

// psProcess is one process of a job with servers.
type psProcess struct {
	*process.Process
	rules.PSRole
	gloo rules.Gloo
}

func (p *psProcess) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	switch p.Role {
	case rules.Server:
		group, ctx := errgroup.WithContext(ctx)
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		group.Go(func() error { return p.serveGloo(ctx) })
		group.Go(func() error {
			defer cancel()
			return p.serve(ctx)
		})
		return group.Wait()
	case rules.HeterTrainer:
		return p.heter(ctx)
	}
	return p.train(ctx)
}

// check returns what is wrong with the role by itself.
func (p *psProcess) check() error {
	if p.Workers < 1 {
		return fmt.Errorf("wrong world size: %d trainers", p.Workers)
	}
	if p.Role == rules.Trainer && (p.Index < 0 || p.Index >= p.Workers) {
		return fmt.Errorf("wrong rank: %d of %d trainers", p.Index, p.Workers)
	}
	h := p.Heter
	if h == nil || p.Role == rules.Server {
		return nil
	}
	stages := []int{p.Workers, len(h.All)}
	switch {
	case h.Stages != 2 || !slices.Equal(h.Trainers, stages):
		return fmt.Errorf("wrong stages: %d of %v processes, and there are 2 of %v", h.Stages, h.Trainers, stages)
	case p.Role == rules.HeterTrainer && (h.Stage != 2 || len(h.Previous) != p.Workers):
		return fmt.Errorf("wrong stage: %d behind %d processes, and there are %d trainers", h.Stage, len(h.Previous), p.Workers)
	case p.Role == rules.Trainer && (h.Stage != 1 || !slices.Equal(h.Next, h.All)):
		return fmt.Errorf("wrong stage: %d before %v, and behind it are %v", h.Stage, h.Next, h.All)
	}
	return nil
}

// group returns that of all processes of a role, which all know the same servers and heterogeneous trainers.
func (p *psProcess) group(role string, size int) meet.Group {
	job := fmt.Sprintf("servers %v, %d trainers and %d steps", p.Servers, p.Workers, p.Options.Steps)
	if p.Heter != nil {
		job += fmt.Sprintf(", heterogeneous trainers %v", p.Heter.All)
	}
	return meet.Group{Name: role, Size: size, Job: job}
}

// serve is a server. It runs until it is stopped, or until all trainers are done if the options say so.
func (p *psProcess) serve(ctx context.Context) error {
	groups := []meet.Group{p.group(rules.Trainer, p.Workers)}
	if p.Heter != nil {
		groups = append(groups, p.group(rules.HeterTrainer, len(p.Heter.All)))
	}
	hub, err := meet.Serve(ctx, p.Net, p.Say, fmt.Sprintf("server %d", p.Index), p.Endpoint, groups...)
	if err != nil {
		return err
	}
	defer hub.Close()
	p.Say("server %d of %d listens at %s for %d trainers", p.Index, len(p.Servers), p.Endpoint, p.Workers)
	err = p.awaitTrainers(ctx, hub)
	if err == nil && !p.Options.ServersExit {
		<-ctx.Done()
		err = context.Cause(ctx)
	}
	return err
}

// awaitTrainers waits until all trainers are done. Where one is lost the others fail, and this process waits to be stopped.
func (p *psProcess) awaitTrainers(ctx context.Context, hub *meet.Hub) error {
	err := hub.Done(ctx, rules.Trainer)
	if errors.As(err, &meet.LostError{}) {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if err == nil {
		p.Say("all %d trainers are done", p.Workers)
	}
	return err
}

// heter is a heterogeneous trainer: it meets the servers, and the trainers exchange their data through it as well.
func (p *psProcess) heter(ctx context.Context) error {
	hub, err := meet.Serve(ctx, p.Net, p.Say, fmt.Sprintf("heterogeneous trainer %d", p.Index), p.Endpoint, p.group(rules.Trainer, p.Workers))
	if err != nil {
		return err
	}
	defer hub.Close()
	p.Say("heterogeneous trainer %d of %d listens at %s for %d trainers, on %s", p.Index, len(p.Heter.All), p.Endpoint, p.Workers, p.Heter.Device)
	var servers meet.Mesh
	defer servers.Close()
	if err := servers.Join(ctx, p.Net, "server", p.Servers, p.group(rules.HeterTrainer, len(p.Heter.All)), p.Index); err != nil {
		return err
	}
	if err := p.awaitTrainers(ctx, hub); err != nil {
		return err
	}
	return servers.Bye()
}

// train is a trainer: it exchanges its data through all servers and all heterogeneous trainers.
func (p *psProcess) train(ctx context.Context) error {
	p.Say("trainer %d of %d, servers %v", p.Index, p.Workers, p.Servers)
	var gloo, mesh meet.Mesh
	defer gloo.Close()
	defer mesh.Close()
	if err := p.meetByGloo(ctx, &gloo); err != nil {
		return err
	}
	group := p.group(rules.Trainer, p.Workers)
	if err := mesh.Join(ctx, p.Net, "server", p.Servers, group, p.Index); err != nil {
		return err
	}
	if p.Heter != nil {
		if err := mesh.Join(ctx, p.Net, "heterogeneous trainer", p.Heter.Next, group, p.Index); err != nil {
			return err
		}
	}
	t := train.Trainer{Process: p.Process, Rank: p.Index, World: p.Workers, Mesh: &mesh, BeforeEnd: func(ctx context.Context, _ train.State) error {
		_, err := gloo.All(ctx, "the barrier at the end", p.Index)
		return err
	}}
	if err := t.Run(ctx); err != nil {
		return err
	}
	return gloo.Bye()
}

// Groups of gloo.
const (
	glooTrainers = "gloo trainer"
	glooAll      = "gloo member"
)

// glooOn reports whether gloo meets over HTTP. A rendezvous in a file system needs variables of the user's own.
func (p *psProcess) glooOn() bool { return p.gloo.Level > 0 && p.gloo.HTTP }

func (p *psProcess) glooEndpoint() string {
	return net.JoinHostPort(p.gloo.Host, strconv.Itoa(p.gloo.Port))
}

// serveGloo is a server's part of gloo's rendezvous: the first serves it, and with level 2 all servers take part.
func (p *psProcess) serveGloo(ctx context.Context) error {
	if !p.glooOn() {
		return nil
	}
	if p.gloo.Serves {
		hub, err := meet.Serve(ctx, p.Net, p.Say, "gloo's rendezvous", p.glooEndpoint(),
			p.group(glooTrainers, p.Workers), p.group(glooAll, p.Workers+len(p.Servers)))
		if err != nil {
			return fmt.Errorf("gloo's rendezvous: %w", err)
		}
		defer hub.Close()
		p.Say("gloo's rendezvous listens at %s", p.glooEndpoint())
	}
	if p.gloo.Level > 1 {
		if err := p.meetAllByGloo(ctx, p.Workers+p.Index); err != nil {
			return err
		}
		p.Say("gloo: %d trainers and %d servers have met", p.Workers, len(p.Servers))
	}
	if p.gloo.Serves {
		<-ctx.Done()
	}
	return nil
}

// meetByGloo is a trainer's part. It leaves the mesh of a single process where gloo is off.
func (p *psProcess) meetByGloo(ctx context.Context, mesh *meet.Mesh) error {
	if !p.glooOn() {
		return nil
	}
	if p.gloo.Level > 1 {
		if err := p.meetAllByGloo(ctx, p.Index); err != nil {
			return err
		}
	}
	err := mesh.Join(ctx, p.Net, "gloo's rendezvous", []string{p.glooEndpoint()}, p.group(glooTrainers, p.Workers), p.Index)
	if err == nil {
		_, err = mesh.All(ctx, "the barrier at the beginning", p.Index)
	}
	if err == nil {
		p.Say("gloo: %d trainers have met", p.Workers)
	}
	return err
}

// meetAllByGloo is a barrier of all trainers and servers.
func (p *psProcess) meetAllByGloo(ctx context.Context, rank int) error {
	var all meet.Mesh
	defer all.Close()
	err := all.Join(ctx, p.Net, "gloo's rendezvous", []string{p.glooEndpoint()}, p.group(glooAll, p.Workers+len(p.Servers)), rank)
	if err == nil {
		_, err = all.All(ctx, "the barrier of all", rank)
	}
	if err == nil {
		err = all.Bye()
	}
	return err
}
