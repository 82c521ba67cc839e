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
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/topology"
)

// Run soaks, writes report.json, and returns an error with what was not as expected.
func Run(ctx context.Context, s Settings, progress io.Writer) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	folder, err := filepath.Abs(filepath.Join(s.Folder, "state"))
	if err != nil {
		return fmt.Errorf("find the folder of the sandbox: %w", err)
	}
	made, err := sandbox.Start(ctx, sandbox.Options{StateDir: folder, Topology: topology.Uniform(s.Nodes), Progress: progress})
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

// soak is a running soak test.
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

// round draws operations, lets all jobs end, checks them, and deletes all.
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

// reportEvery is how often a round reports its progress.
const reportEvery = 20 * time.Second

// draw draws operations for as long as a round has them. Once in each, Volcano's controllers are killed.
func (s *soak) draw(ctx context.Context) error {
	begun, reported := time.Now(), time.Now()
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
		if time.Since(reported) > reportEvery {
			reported = time.Now()
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

// until polls until nothing is broken, and returns what is broken at the timeout.
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

// Settings of a soak.
type Settings struct {
	// For is how long it lasts; no round begins later.
	For time.Duration
	// Round is how long operations are drawn in each round; less where a soak is so short that it would have but one.
	Round time.Duration
	// Pause is between two operations.
	Pause time.Duration
	// Seed decides what is drawn.
	Seed uint64
	// Jobs is how many there are at most that have not ended, on Nodes simulated nodes.
	Jobs, Nodes int
	// Folder for report.json; the sandbox's state is below it.
	Folder string
	// Patience is how long all jobs may take to end, or to be gone: more than the longest grace of the controller's (Volcano
	// loses a job now and then; controller/paddlejob/lifecycle/forgotten.go).
	Patience time.Duration
}

// Default returns what `make soak` runs.
func Default() Settings {
	return Settings{
		For: 30 * time.Minute, Round: 2 * time.Minute, Pause: 150 * time.Millisecond, Seed: 1, Jobs: 25, Nodes: 30,
		Folder: "_output/soak", Patience: 12 * time.Minute,
	}
}

// leastRounds are needed to see whether anything grows.
const leastRounds = 2

func (s *Settings) check() error {
	if s.Jobs < 1 || s.Nodes < 1 {
		return errors.New("jobs and nodes must each be 1 or more")
	}
	if s.For <= 0 || s.Round <= 0 || s.Pause <= 0 || s.Patience <= 0 {
		return errors.New("for, round, pause and patience must each be more than 0")
	}
	s.Round = min(s.Round, s.For/leastRounds)
	return nil
}

// Report is what report.json holds.
type Report struct {
	Seed    uint64  `json:"seed"`
	Seconds float64 `json:"seconds"`
	// Made is how many jobs there were.
	Made       int            `json:"jobs"`
	Operations map[string]int `json:"operations"`
	Rounds     []Round        `json:"rounds"`
	// Broken is what differed from the expected state.
	Broken []string `json:"broken"`
}

// Round is what a round left.
type Round struct {
	// Phases counts the jobs by their phase once all had ended. Jobs that no longer existed are in none.
	Phases map[string]int `json:"phases"`
	// Drained and Emptied are how long it took until all had ended, and until all were gone.
	Drained float64 `json:"drained_s"`
	Emptied float64 `json:"emptied_s"`
	// Sizes are those of the programs when nothing was left, by component.
	Sizes map[string]Size `json:"sizes"`
}
