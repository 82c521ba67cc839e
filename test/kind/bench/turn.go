// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	bench "github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/bench/report"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
)

const (
	// Both schedulers are this Deployment with this account, and pods name them by schedulerName.
	namespace, deployment = "volcano-system", "volcano-scheduler"
	user                  = "system:serviceaccount:" + namespace + ":" + deployment
	schedulerName         = "volcano"
	// manager is the field manager of the scripts of hack/kind: a field that one scheduler has and the other has not is removed.
	manager = "paddle-kind"
)

// player takes the turns on a cluster that runs.
type player struct {
	*live.Plane
	objects *manifests.Client
	// manifests has a file scheduler-NAME.yaml of each scheduler.
	manifests fs.FS
	patience  time.Duration

	log *audit.Reader
	// history is what happened to the pods of the turn, series the number of the load.
	history *times.History
	series  int
}

func check(s bench.Settings) error {
	for _, name := range s.Schedulers {
		if !slices.Contains(schedulers, name) {
			return fmt.Errorf("scheduler %q takes no turns on such a cluster: want some of %v", name, schedulers)
		}
	}
	return nil
}

// takeTurns takes all turns, which the audit log of the API server times, and writes the report.
func (p *player) takeTurns(ctx context.Context, s bench.Settings, log string) (err error) {
	cases, err := s.Cases()
	if err != nil {
		return err
	}
	if err := p.clear(ctx); err != nil {
		return err
	}
	if p.log, err = audit.Open(log); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.log.Close()) }()
	if err := p.stop(ctx); err != nil {
		return err
	}
	for i := range cases {
		of := &cases[i]
		for round := range s.Rounds {
			for turn := range s.Schedulers {
				scheduler := s.Schedulers[(turn+round)%len(s.Schedulers)] // each round begins with another
				took, err := p.take(ctx, *of, scheduler)
				if err != nil {
					return fmt.Errorf("turn of %s, %s: %w", scheduler, of, err)
				}
				took.Round = round
				fmt.Fprintf(os.Stderr, "%s: round %d: %s bound %.1f pods/s (%.1f s)\n", of, round+1, scheduler, took.Bound, took.Seconds)
				of.Turns = append(of.Turns, took)
			}
		}
	}
	if err := bench.Tell(s, cases); err != nil {
		return err
	}
	return report.Show(filepath.Join(s.Folder, "live.json"), os.Stdout)
}

// clear creates the namespace of the load, or removes what an earlier run has left there.
func (p *player) clear(ctx context.Context) error {
	_, err := p.Kube.CoreV1().Namespaces().Get(ctx, load.Namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p.MakeNamespace(ctx, load.Namespace)
	}
	if err != nil {
		return fmt.Errorf("look for namespace %s: %w", load.Namespace, err)
	}
	return load.Clear(ctx, p.Plane)
}

// start applies the manifest of a scheduler.
func (p *player) start(ctx context.Context, scheduler string) error {
	objects, err := manifests.Read(p.manifests, "scheduler-"+scheduler+".yaml")
	if err != nil {
		return err
	}
	if err := p.objects.Apply(ctx, namespace, manager, objects...); err != nil {
		return fmt.Errorf("start scheduler %s: %w", scheduler, err)
	}
	return nil
}

// stop scales the scheduler to zero, and waits until its last pod is gone.
func (p *player) stop(ctx context.Context) error {
	_, err := p.Kube.AppsV1().Deployments(namespace).Patch(ctx, deployment, types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{FieldManager: manager})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("scale the scheduler to zero: %w", err)
	}
	return p.Until(ctx, "the scheduler to be gone", func(ctx context.Context) error {
		pods, err := p.Kube.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=" + deployment})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("pod %s is there", pods.Items[0].Name)
		}
		return err
	})
}

// take has one scheduler bind a case while all programs run, as a user's do, and leaves nothing behind.
func (p *player) take(ctx context.Context, c bench.Case, scheduler string) (bench.Turn, error) {
	if err := p.start(ctx, scheduler); err != nil {
		return bench.Turn{}, err
	}
	// One pod runs first, so that all programs are ready.
	probe := c
	probe.Gangs, probe.Gang, probe.Pods = 1, 1, 1
	for _, c := range []bench.Case{probe, c} {
		if err := load.Clear(ctx, p.Plane); err != nil {
			return bench.Turn{}, err
		}
		if err := p.submit(ctx, c); err != nil {
			return bench.Turn{}, err
		}
		if err := p.until(ctx, "running", c.Pods, func() int { return p.history.Running }); err != nil {
			return bench.Turn{}, err
		}
	}
	turn := bench.Turn{Scheduler: scheduler, Figures: p.history.Whole(), Calls: p.history.Calls(), Late: p.history.Late()}
	if err := p.stop(ctx); err != nil {
		return bench.Turn{}, err
	}
	return turn, load.Clear(ctx, p.Plane)
}

// submit starts a new history and creates the load. No name is used twice: controllers wait before they create an object again that
// was just deleted.
func (p *player) submit(ctx context.Context, c bench.Case) error {
	if err := p.read(); err != nil { // earlier requests belong to no history
		return err
	}
	p.history = times.New(load.Namespace)
	p.history.Watch(user)
	p.series++
	return load.Load{Form: c.Form, Gangs: c.Gangs, Gang: c.Gang, Scheduler: schedulerName, Series: p.series}.Submit(ctx, p.Plane)
}

func (p *player) read() error {
	if p.history == nil {
		p.history = times.New(load.Namespace)
	}
	return p.log.Each(p.history.See)
}

// until reads the audit log until the wanted number of pods is reached.
func (p *player) until(ctx context.Context, what string, want int, count func() int) error {
	return times.Waiter{Read: p.read, Patience: p.patience}.Until(ctx, what, want, count)
}
