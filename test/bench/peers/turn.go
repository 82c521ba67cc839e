// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/limit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Ways of a turn.
const (
	// EndToEnd is from the first creation of what users submit to the last binding. Everything runs.
	EndToEnd = "end to end"
	// Alone is from the first request of the programs that place pods to the last binding. All pods are there before.
	Alone = "scheduler alone"
)

// Turn is what one scheduler took for one case in one round.
type Turn struct {
	Scheduler string `json:"scheduler"`
	Version   string `json:"version"`
	Case      string `json:"case"`
	Round     int    `json:"round"`
	Way       string `json:"way"`
	times.Figures
	Places
	// Unbound are the pods that were not bound when nothing had happened for long.
	Unbound int `json:"unbound_pods"`
	// CPU and RSS are those of all processes of the system, in seconds of a processor and MiB at most. Writes are its requests that
	// change objects.
	CPU    float64 `json:"cpu_s"`
	RSS    float64 `json:"rss_mib"`
	Writes float64 `json:"writes_per_pod"`
	// Unfit are the bound pods of a gang that no rack holds. Only turns from end to end have one.
	Unfit     int                      `json:"bound_pods_of_a_gang_that_no_rack_holds"`
	Processes map[string]usage.Process `json:"processes"`
	Calls     times.Calls              `json:"calls"`
}

// take has a scheduler place a case on a new control plane.
func (s *Settings) take(ctx context.Context, name string, c Case, way string) (turn Turn, err error) {
	p, err := newPeer(name, s.Kubernetes, way == EndToEnd)
	if err != nil {
		return Turn{}, err
	}
	at, err := s.start(ctx, p)
	if err != nil {
		return Turn{}, err
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w; logs are in %s", err, filepath.Join(at.StateDir(), "logs"))
		}
		err = errors.Join(err, at.Close(err != nil))
	}()
	if p.install != nil {
		if err := p.install(ctx, at); err != nil {
			return Turn{}, fmt.Errorf("install: %w", err)
		}
	}
	if way == Alone {
		return at.alone(ctx, p, c)
	}
	if turn, err = at.endToEnd(ctx, p, c); err == nil {
		turn.Unfit, err = at.unfit(ctx, p, s.Settle)
	}
	return turn, err
}

// gangs returns the case's.
func (c Case) gangs() []gang {
	all := make([]gang, c.Gangs)
	for i := range all {
		all[i] = gang{Namespace: load.Namespace, Name: fmt.Sprintf("g%05d", i), Size: c.Gang}
	}
	return all
}

// launch starts the programs that place pods.
func (at *site) launch(ctx context.Context, p *peer) error {
	if p.begin != nil {
		if err := p.begin(ctx, at); err != nil {
			return err
		}
	}
	for _, name := range p.components {
		if err := at.StartComponent(name); err != nil {
			return err
		}
	}
	return nil
}

// endToEnd has gangs submitted while everything runs.
func (at *site) endToEnd(ctx context.Context, p *peer, c Case) (Turn, error) {
	first, err := p.submitted(true, gang{Namespace: before, Name: "first", Size: 1})
	if err != nil {
		return Turn{}, err
	}
	all, err := p.submitted(true, c.gangs()...)
	if err != nil {
		return Turn{}, err
	}
	if err := at.observe(before); err != nil {
		return Turn{}, err
	}
	if err := at.launch(ctx, p); err != nil {
		return Turn{}, err
	}
	// One pod is placed first, so that all programs are ready.
	if err := at.Until(ctx, "a first pod to be admitted", func(ctx context.Context) error { return at.submit(ctx, first) }); err != nil {
		return Turn{}, err
	}
	if err := at.AwaitPods(ctx, "bound", 1, func() int { return at.History.Bound }); err != nil {
		return Turn{}, err
	}
	mark, err := at.mark(p)
	if err != nil {
		return Turn{}, err
	}
	if err := at.submit(ctx, all); err != nil {
		return Turn{}, err
	}
	return at.bound(ctx, p, c, mark, (*times.History).Whole)
}

// alone creates all pods before the programs that place them are started. No other program has work.
func (at *site) alone(ctx context.Context, p *peer, c Case) (Turn, error) {
	all, err := p.submitted(false, c.gangs()...)
	if err != nil {
		return Turn{}, err
	}
	idle := []string{sandbox.Kwok, sandbox.ControllerManager}
	if slices.Contains(p.helpers, sandbox.VolcanoController) {
		idle = append(idle, sandbox.VolcanoController)
	}
	for _, name := range idle {
		if err := at.Kill(name, syscall.SIGTERM); err != nil {
			return Turn{}, err
		}
	}
	if err := at.observe(load.Namespace); err != nil {
		return Turn{}, err
	}
	if err := at.submit(ctx, all); err != nil {
		return Turn{}, err
	}
	if err := at.AwaitPods(ctx, "created", c.pods(), func() int { return at.History.Created }); err != nil {
		return Turn{}, err
	}
	mark, err := at.mark(p)
	if err != nil {
		return Turn{}, err
	}
	if err := at.launch(ctx, p); err != nil {
		return Turn{}, err
	}
	return at.bound(ctx, p, c, mark, (*times.History).Work)
}

// mark begins what is measured.
func (at *site) mark(p *peer) (usage.Mark, error) {
	if err := at.observe(load.Namespace); err != nil {
		return nil, err
	}
	at.History.Watch(p.users...)
	return usage.Begin(at.Plane)
}

// bound waits until all pods are bound, and returns the figures. Pods that are not bound are a result, too.
func (at *site) bound(ctx context.Context, p *peer, c Case, mark usage.Mark, figures func(*times.History) times.Figures) (Turn, error) {
	err := at.AwaitPods(ctx, "bound", c.pods(), func() int { return at.History.Bound })
	if err != nil && !errors.Is(err, times.ErrStalled) {
		return Turn{}, err
	}
	processes, err := mark.Since(at.Plane)
	if err != nil {
		return Turn{}, err
	}
	bindings, err := limit.Bindings(at.History.Writes())
	if err != nil {
		return Turn{}, err
	}
	turn := Turn{
		Figures: figures(at.History), Places: placesOf(bindings, at.nodes), Unbound: c.pods() - at.History.Bound,
		Processes: processes, Calls: at.History.Calls(),
	}
	turn.CPU, turn.RSS = p.used(processes)
	turn.Writes = float64(p.writes(turn.Calls)) / float64(c.pods())
	return turn, nil
}

// unfit submits a gang that has one pod more than a rack has GPUs, and returns how many of its pods are bound after a while.
func (at *site) unfit(ctx context.Context, p *peer, settle time.Duration) (bound int, err error) {
	g := gang{Namespace: load.Namespace, Name: "unfit", Size: slices.Max(gpusOfRacks(at.nodes)) + 1}
	all, err := p.submitted(true, g)
	if err != nil {
		return 0, err
	}
	if err := at.submit(ctx, all); err != nil {
		return 0, err
	}
	select {
	case <-time.After(settle):
	case err := <-at.Failed():
		return 0, err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if err := at.Read(); err != nil {
		return 0, err
	}
	for name, pod := range at.History.Pods {
		if times.Gang(name) == g.Name && !pod.Bound.IsZero() {
			bound++
		}
	}
	return bound, nil
}
