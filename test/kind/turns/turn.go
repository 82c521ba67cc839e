// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"fmt"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
)

const (
	// user is who either scheduler is to the API server, and scheduler what pods call it.
	user      = "system:serviceaccount:volcano-system:volcano-scheduler"
	scheduler = "volcano"
	// pollEvery is how often the audit log is read.
	pollEvery = 100 * time.Millisecond
)

type player struct {
	Cluster
	log *audit.Reader
	// story is that of the turn, series the number of the load.
	story    *times.Story
	series   int
	patience time.Duration
}

// take has one scheduler bind a case, and leaves nothing behind.
func (p *player) take(ctx context.Context, c bench.Case, who string) (bench.Turn, error) {
	play := p.whole
	if c.Form == load.PodGroups {
		play = p.alone
	}
	turn, err := play(ctx, c, who)
	if err != nil {
		return bench.Turn{}, err
	}
	turn.Scheduler = who
	if err := p.Stop(ctx); err != nil {
		return bench.Turn{}, err
	}
	return turn, load.Clear(ctx, p.Plane)
}

// alone has all pods there before the scheduler begins, and waits until they are bound.
func (p *player) alone(ctx context.Context, c bench.Case, who string) (bench.Turn, error) {
	if err := p.submit(ctx, c); err != nil {
		return bench.Turn{}, err
	}
	if err := p.until(ctx, "created", c.Pods, func() int { return p.story.Created }); err != nil {
		return bench.Turn{}, err
	}
	p.story.Watch(user)
	if err := p.Start(ctx, who); err != nil {
		return bench.Turn{}, err
	}
	if err := p.until(ctx, "bound", c.Pods, func() int { return p.story.Bound }); err != nil {
		return bench.Turn{}, err
	}
	return bench.Turn{Figures: p.story.Work(), Calls: p.story.Calls(), Late: p.story.Late()}, nil
}

// whole has jobs submitted while everything runs, and waits until their pods run.
func (p *player) whole(ctx context.Context, c bench.Case, who string) (bench.Turn, error) {
	if err := p.Start(ctx, who); err != nil {
		return bench.Turn{}, err
	}
	// One pod goes all the way first, so that everybody is up.
	probe := c
	probe.Gangs, probe.Gang, probe.Pods = 1, 1, 1
	for _, c := range []bench.Case{probe, c} {
		if err := load.Clear(ctx, p.Plane); err != nil {
			return bench.Turn{}, err
		}
		if err := p.submit(ctx, c); err != nil {
			return bench.Turn{}, err
		}
		if err := p.until(ctx, "running", c.Pods, func() int { return p.story.Running }); err != nil {
			return bench.Turn{}, err
		}
	}
	return bench.Turn{Figures: p.story.Whole(), Calls: p.story.Calls(), Late: p.story.Late()}, nil
}

// submit begins a story. Names are not used twice: controllers wait before they make again what has just gone.
func (p *player) submit(ctx context.Context, c bench.Case) error {
	if err := p.read(); err != nil { // what was before is of no story
		return err
	}
	p.story = times.New(load.Namespace)
	p.story.Watch(user)
	p.series++
	return load.Load{Form: c.Form, Gangs: c.Gangs, Gang: c.Gang, Scheduler: scheduler, Series: p.series}.Submit(ctx, p.Plane)
}

func (p *player) read() error {
	if p.story == nil {
		p.story = times.New(load.Namespace)
	}
	return p.log.Each(p.story.See)
}

// until reads the audit log until so many pods are as wanted.
func (p *player) until(ctx context.Context, what string, want int, count func() int) error {
	last, since := -1, time.Now()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := p.read(); err != nil {
			return err
		}
		now := count()
		if now >= want {
			return nil
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > p.patience {
			return fmt.Errorf("wait for pods to be %s: nothing has happened for %s; %d of %d are", what, p.patience, now, want)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for pods to be %s: %w; %d of %d are", what, ctx.Err(), now, want)
		}
	}
}
