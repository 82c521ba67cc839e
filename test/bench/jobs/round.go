// SPDX-License-Identifier: Apache-2.0

package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/bench/audit"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/usage"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Kinds of rounds.
const (
	KindPaddle  = "PaddleJob"
	kindVolcano = "Volcano Job"
	// kindBare has pods that wait for nobody: without the status of an init container the simulated kubelets write a third less.
	kindBare = "Volcano Job without start barrier"
)

// Round is what one round took, in seconds from the first create.
type Round struct {
	Kind string `json:"kind"`
	// Created is when the last pod had been created, Ready when every pod had an IP and, of PaddleJobs, every job its
	// environment.
	Created float64 `json:"created_s"`
	Ready   float64 `json:"ready_s"`
	// Early is how many jobs had ended by then: of none is the end part of what is measured, if workers run for long enough.
	Early int `json:"ended_before_ready,omitempty"`
	// Running is how many pods ran by then, and Requests what everybody had written: whether rounds did the same work until then.
	Running  int            `json:"running_when_ready"`
	Requests map[string]int `json:"writes_until_ready"`
	// Processes are what each has used until then, by name.
	Processes map[string]usage.Process `json:"processes"`
	// Of the last round of PaddleJobs, which goes on until every job has ended: when that was, the controller's peak of resident
	// memory, what it wrote, and its events.
	Completed float64 `json:"completed_s,omitempty"`
	RSS       float64 `json:"controller_rss_mib,omitempty"`
	Writes    Writes  `json:"writes,omitempty"`
	Events    int     `json:"events,omitempty"`
}

type stage struct {
	*live.Plane
	audit string
}

// round runs one in a sandbox of its own. Both kinds have the same: our scheduler, and our controller, which has nothing
// to do for raw Volcano Jobs. A whole round goes on until every job has ended, and what the controller wrote is counted.
func (s *Settings) round(ctx context.Context, kind string, whole bool, progress io.Writer) (r Round, err error) {
	folder, err := filepath.Abs(filepath.Join(s.Folder, "controller-state"))
	if err != nil {
		return Round{}, fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	stage, err := s.start(ctx, folder)
	if err != nil {
		return Round{}, err
	}
	defer func() {
		stopped := stage.Stop()
		if err != nil {
			err = errors.Join(fmt.Errorf("%w; logs are in %s", err, filepath.Join(folder, "logs")), stopped)
			return
		}
		err = errors.Join(stopped, os.RemoveAll(folder), os.RemoveAll(folder+"-audit"))
	}()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := watch(ctx, stage.Kube, stage.Volcano)
	if err != nil {
		return Round{}, err
	}
	written, err := requests(ctx, stage.Kube)
	if err != nil {
		return Round{}, err
	}
	mark, err := usage.Begin(stage.Plane)
	if err != nil {
		return Round{}, err
	}
	begin := time.Now()
	if err := s.create(ctx, stage, kind); err != nil {
		return Round{}, err
	}
	r = Round{Kind: kind}
	for _, goal := range s.goals(&r, whole) {
		told := func(now seen) {
			_, _ = fmt.Fprintf(progress, "%s: %.0f s: %d of %d pods created, %d placed, %d of %d jobs completed\n", kind, time.Since(begin).Seconds(),
				now.Created, s.pods(), now.Addressed, now.Done, s.Jobs)
		}
		if err := w.until(ctx, goal.patience, goal.name, told, goal.reached); err != nil {
			return Round{}, fmt.Errorf("round of %s: %w", kind, err)
		}
		*goal.into = time.Since(begin).Seconds()
		if goal.into != &r.Ready {
			continue
		}
		now := w.seen()
		r.Early, r.Running = now.Done+now.Failed, now.Running
		if r.Processes, err = mark.Since(stage.Plane); err != nil {
			return Round{}, err
		}
		asked, err := requests(ctx, stage.Kube)
		if err != nil {
			return Round{}, err
		}
		r.Requests = less(asked, written)
	}
	if now := w.seen(); now.Failed > 0 {
		return Round{}, fmt.Errorf("round of %s: %d of %d jobs failed", kind, now.Failed, s.Jobs)
	}
	if whole {
		if err := s.settled(ctx, stage); err != nil {
			return Round{}, err
		}
		if _, r.RSS, err = stage.Memory(sandbox.Controller); err != nil {
			return Round{}, err
		}
		if r.Writes, r.Events, err = count(stage.audit); err != nil {
			return Round{}, err
		}
	}
	return r, nil
}

// goal is something that a round waits for.
type goal struct {
	name string
	// into is where the time at which it was reached goes.
	into    *float64
	reached func(seen) bool
	// patience is how long nothing may happen.
	patience time.Duration
}

// goals of a round. The end of jobs takes long, and is a question of one round only.
func (s *Settings) goals(r *Round, whole bool) []goal {
	goals := []goal{
		{"all pods to be created", &r.Created, func(now seen) bool { return now.Created >= s.pods() }, s.Patience},
		{"all pods to know their peers", &r.Ready, func(now seen) bool {
			return now.Addressed >= s.pods() && (r.Kind != KindPaddle || now.Complete >= s.Jobs)
		}, s.Patience},
	}
	if whole {
		goals = append(goals, goal{"all jobs to complete", &r.Completed, func(now seen) bool { return now.Done+now.Failed >= s.Jobs }, s.Patience + s.RunFor})
	}
	return goals
}

func (s *Settings) start(ctx context.Context, folder string) (*stage, error) {
	args, log, err := audit.Prepare(folder+"-audit", auditPolicy)
	if err != nil {
		return nil, err
	}
	made, err := sandbox.Start(ctx, sandbox.Options{
		StateDir: folder, Topology: sandbox.Uniform(s.Nodes), Args: map[string][]string{sandbox.APIServer: args},
	})
	if err != nil {
		return nil, fmt.Errorf("start the sandbox: %w", err)
	}
	connected, err := live.Connect(made)
	if err != nil {
		return nil, errors.Join(err, made.Stop())
	}
	return &stage{Plane: connected, audit: log}, nil
}

// creators create at the same time.
const creators = 16

func (s *Settings) create(ctx context.Context, stage *stage, kind string) error {
	next, failed := make(chan int), make(chan error, creators)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range creators {
		go func() {
			for i := range next {
				if err := s.createOne(ctx, stage, kind, i); err != nil {
					failed <- fmt.Errorf("create %s %s: %w", kind, name(i), err)
					cancel()
					return
				}
			}
			failed <- nil
		}()
	}
	for i := range s.Jobs {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	var err error
	for range creators {
		err = errors.Join(err, <-failed)
	}
	return err
}

func (s *Settings) createOne(ctx context.Context, stage *stage, kind string, i int) (err error) {
	if kind == KindPaddle {
		_, err = stage.Paddle.BatchV1().PaddleJobs(namespace).Create(ctx, s.paddleJob(i), metav1.CreateOptions{})
		return err
	}
	_, err = stage.Volcano.BatchV1alpha1().Jobs(namespace).Create(ctx, s.volcanoJob(kind, i), metav1.CreateOptions{})
	return err
}
