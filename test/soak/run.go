// SPDX-License-Identifier: Apache-2.0

package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/paddle-volcano/paddle-volcano/test/bench/result"
	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Run soaks, writes report.json, and returns an error that tells what was not as it should be.
func Run(ctx context.Context, s Settings, progress io.Writer) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	folder, err := filepath.Abs(filepath.Join(s.Folder, "state"))
	if err != nil {
		return fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	made, err := sandbox.Start(ctx, sandbox.Options{StateDir: folder, Topology: sandbox.Uniform(s.Nodes), Progress: progress})
	if err != nil {
		return fmt.Errorf("start the sandbox: %w", err)
	}
	defer func() { err = errors.Join(err, made.Stop()) }()
	plane, err := live.Connect(made)
	if err != nil {
		return err
	}
	if err := plane.MakeNamespace(ctx, namespace); err != nil {
		return err
	}
	soak := &soak{Settings: s, progress: progress, began: time.Now(), actor: &actor{
		Plane: plane, r: rand.New(rand.NewPCG(s.Seed, 0)), did: map[string]int{}, most: s.Jobs, //nolint:gosec // chance, not secrets
	}}
	failed := soak.rounds(ctx)
	r := &soak.report
	r.Seed, r.Seconds, r.Made, r.Operations = s.Seed, time.Since(soak.began).Seconds(), soak.made, soak.did
	if failed != nil {
		r.Broken = append(r.Broken, failed.Error())
	} else {
		r.Broken = append(r.Broken, growth(r.Rounds)...)
	}
	if err := result.Write(s.Folder, "report.json", r); err != nil {
		return err
	}
	if len(r.Broken) > 0 {
		return fmt.Errorf("the soak with seed %d is not as it should be (logs in %s):\n%s", s.Seed, filepath.Join(folder, "logs"), strings.Join(r.Broken, "\n"))
	}
	return nil
}

// soak is one that goes on.
type soak struct {
	Settings
	*actor
	progress io.Writer
	began    time.Time
	report   Report
}

func (s *soak) say(format string, args ...any) {
	_, _ = fmt.Fprintf(s.progress, "%5.0f s  "+format+"\n", append([]any{time.Since(s.began).Seconds()}, args...)...)
}

func (s *soak) rounds(ctx context.Context) error {
	for n := 1; n <= leastRounds || time.Since(s.began) < s.For; n++ {
		round, err := s.round(ctx)
		if err != nil {
			return fmt.Errorf("round %d: %w", n, err)
		}
		s.report.Rounds = append(s.report.Rounds, round)
		s.say("round %d: %v; %v", n, round.Phases, round.Sizes)
	}
	return nil
}

// round draws operations, lets all end, judges, and deletes all.
func (s *soak) round(ctx context.Context) (Round, error) {
	s.jobs = nil
	if err := s.draw(ctx); err != nil {
		return Round{}, err
	}
	drained := time.Now()
	r := Round{Phases: map[string]int{}}
	if err := s.until(ctx, "all jobs to come to an end", func(w *world) []string {
		clear(r.Phases)
		for _, job := range w.jobs {
			r.Phases[string(job.Status.Phase)]++
		}
		return differences(s.jobs, w)
	}); err != nil {
		return Round{}, err
	}
	r.Drained = time.Since(drained).Seconds()
	emptied := time.Now()
	if err := s.Paddle.BatchV1().PaddleJobs(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return Round{}, fmt.Errorf("delete all jobs: %w", err)
	}
	for _, j := range s.jobs {
		j.deleted = true
	}
	if err := s.until(ctx, "all to be gone", func(w *world) []string { return differences(s.jobs, w) }); err != nil {
		return Round{}, err
	}
	r.Emptied = time.Since(emptied).Seconds()
	var err error
	r.Sizes, err = sizes(ctx, s.Plane)
	return r, err
}

// reportEvery is how often a round tells how it goes.
const reportEvery = 20 * time.Second

// draw draws operations for as long as a round has them. Once in each, Volcano's controllers are killed.
func (s *soak) draw(ctx context.Context) error {
	begun, told := time.Now(), time.Now()
	killed := false
	pace := time.NewTicker(s.Pause)
	defer pace.Stop()
	for time.Since(begun) < s.Round {
		if err := s.one(ctx); err != nil {
			return err
		}
		if !killed && time.Since(begun) > s.Round/2 {
			killed = true
			if err := s.restart(sandbox.VolcanoController); err != nil {
				return err
			}
		}
		if time.Since(told) > reportEvery {
			told = time.Now()
			s.say("%d jobs so far, %d in this round; operations %v", s.made, len(s.jobs), s.did)
		}
		select {
		case <-pace.C:
		case err := <-s.Failed():
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// lookEvery is how long there is between two looks at everything.
const lookEvery = time.Second

// until looks until nothing is broken, and returns what is when patience is over.
func (s *soak) until(ctx context.Context, what string, judge func(*world) []string) error {
	var broken []string
	err := wait.PollUntilContextTimeout(ctx, lookEvery, s.Patience, true, func(ctx context.Context) (bool, error) {
		w, err := look(ctx, s.Plane)
		if err != nil && ctx.Err() != nil {
			return false, nil //nolint:nilerr // that patience is over explains nothing
		}
		if err != nil {
			return false, err
		}
		broken = judge(w)
		return len(broken) == 0, nil
	})
	if err != nil {
		left := filepath.Join(s.Folder, "left.yaml")
		err = fmt.Errorf("gave up waiting for %s: %w (what was there is in %s):\n%s", what, err, left, strings.Join(broken, "\n"))
		return errors.Join(err, keep(context.WithoutCancel(ctx), s.Plane, left))
	}
	return nil
}
