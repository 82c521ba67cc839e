// SPDX-License-Identifier: Apache-2.0

package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/session"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/session/quality"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

// Least tolerances of figures. Those that are exact are equal in each run; those that are counted depend a little on when
// goroutines and programs run; those that are timed are ratios, which differ between machines. Volcano writes status and Events in each
// session that finds a gang waiting: in three runs of one build the scheduler wrote 3.4 to 3.5 times for a pod, in another one on
// another day 3.9.
const (
	exact      = 0.001
	counted    = 0.02
	timed      = 0.25
	perSession = 0.25
)

const seed = 1

// part is a slice of one benchmark, and how its figures are named. Settings and seeds are fixed: figures of others cannot be compared.
type part struct {
	name    string
	measure func(ctx context.Context, folder string, progress io.Writer, add add) error
}

// add names a figure of a part.
type add func(value, least float64, format string, args ...any)

var parts = []part{{"placement", planner}, {"session", plugin}, {"controller", controlPlane}}

// Parts are the names of all.
func Parts() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// measure runs some parts in a folder, and collects their figures.
func measure(ctx context.Context, only []string, folder string, progress io.Writer) (Measured, error) {
	figures := Measured{}
	for _, p := range parts {
		if !slices.Contains(only, p.name) {
			continue
		}
		if err := p.measure(ctx, folder, progress, func(value, least float64, format string, args ...any) {
			figures[p.name+": "+fmt.Sprintf(format, args...)] = Reading{Value: value, Least: least}
		}); err != nil {
			return nil, fmt.Errorf("measure %s: %w", p.name, err)
		}
	}
	return figures, nil
}

// read reads what a benchmark wrote.
func read(folder, file string, report any) error {
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err == nil {
		err = json.Unmarshal(text, report)
	}
	if err != nil {
		return fmt.Errorf("read what was measured: %w", err)
	}
	return nil
}

func planner(_ context.Context, folder string, progress io.Writer, add add) error {
	r := &bench.Report{}
	s := bench.Settings{Seed: seed, Instances: 1000, Clusters: 100, NoTenfold: true, Folder: folder}
	if err := errors.Join(bench.Run(s, progress), read(folder, "placement.json", r)); err != nil {
		return err
	}
	for name, o := range map[string]*bench.Optimality{"one group": r.Optimality, "hybrid": r.Hybrid.Optimality} {
		add(o.Mean, exact, "mean cost by brute force's, %s", name)
		add(1-o.ExactShare, exact, "share of plans that are not optimal, %s", name)
		add(float64(o.Missed), exact, "instances without a plan that have one, %s", name)
	}
	for _, b := range r.Baselines {
		add(1/b.CostRatio, exact, "mean cost by that of %s", b.Name)
	}
	add(1-r.Overall.BusiestNotAbove, exact, "share of plans with a busier uplink than a baseline of equal cost")
	add(r.Hybrid.Racks, exact, "bytes across racks by those of the best baseline, hybrid")
	// The times of many plans in a row and of hybrid ones are too far apart on a busy machine.
	for _, s := range r.Speed {
		if s.Jobs == 1 {
			add(s.CPUSorts, timed, "processor time in sorts of the nodes, %s", caseOf(&s))
		}
	}
	for _, s := range append(r.Speed, r.Hybrid.Speed...) {
		add(s.Bytes/float64(s.Jobs), counted, "bytes allocated for a plan, %s", caseOf(&s))
	}
	return nil
}

func caseOf(s *bench.Speed) string { return s.Case + map[bool]string{true: " (warm)"}[s.Warm] }

// clusters of each scenario, on which the plugin places a gang.
const clusters = 3

func plugin(_ context.Context, folder string, progress io.Writer, add add) error {
	stage, err := quality.NewStage(cluster.Paddle(nil))
	if err != nil {
		return err
	}
	defer stage.Close()
	var costs, racks []float64
	left := 0
	for _, scenario := range quality.Scenarios() {
		for index := range clusters {
			outcomes, err := stage.Play(quality.Draw(&scenario, seed, index))
			if err != nil {
				return err
			}
			if !outcomes[0].Placed {
				left++
			}
			costs, racks = append(costs, max(1, outcomes[0].Cost)), append(racks, max(1, outcomes[0].Rack))
		}
	}
	add(stats.Geomean(costs), exact, "cost of %d gangs, geometric mean", len(costs))
	add(stats.Geomean(racks), exact, "bytes of %d gangs across racks, geometric mean", len(racks))
	add(float64(left), exact, "gangs of %d that were not placed", len(costs))

	r, s := &session.Report{}, session.Default()
	s.Seed, s.Folder, s.Only, s.Short, s.Alone, s.Largest = seed, folder, []string{"speed", "optimality"}, true, true, 1000
	if err := errors.Join(session.Run(s, progress), read(folder, "session.json", r)); err != nil {
		return err
	}
	for _, row := range r.Speed {
		name := fmt.Sprintf("%d nodes, %d pods in gangs of %d", row.Nodes, row.Pods, row.Gang)
		add(row.PaddleBytes, counted, "bytes allocated in the session, %s", name)
		add(float64(row.Pods-row.PaddleBound), exact, "pods that were not bound, %s", name)
	}
	add(r.Optimality.Mean, exact, "mean cost of %d gangs by that with %d times the search budget", r.Optimality.Instances, s.Effort)
	add(float64(len(r.Optimality.Above)), exact, "gangs of %d that cost 2 %% more than with %d times the search budget", r.Optimality.Instances, s.Effort)
	return nil
}

func controlPlane(ctx context.Context, folder string, progress io.Writer, add add) error {
	s := live.DefaultJobs()
	s.Folder, s.Jobs, s.Nodes, s.RunFor = folder, 40, 20, 45*time.Second
	round, err := s.Round(ctx, live.KindPaddle, true, progress)
	if err != nil {
		return err
	}
	if round.Ended > 0 {
		return fmt.Errorf("%d pods had ended before all had begun: this machine is too slow or too busy", round.Ended)
	}
	jobs, pods := float64(s.Jobs), float64(s.Jobs*live.PodsOfJob)
	for user, n := range round.WritesBy {
		if strings.HasSuffix(user, ":volcano-scheduler") {
			add(float64(n)/pods, perSession, "API writes of the scheduler for a pod")
		}
	}
	add(sum(round.WritesBy)/pods, counted, "API writes of all clients for a pod")
	add(sum(round.Writes)/jobs, counted, "API writes of the controller for a PaddleJob, Events apart")
	add(float64(round.Events)/jobs, counted, "Events of the controller for a PaddleJob")
	server := round.Processes[sandbox.APIServer].CPU
	for _, name := range []string{sandbox.Scheduler, sandbox.Controller} {
		process, ok := round.Processes[name]
		if !ok || server <= 0 {
			return fmt.Errorf("the sandbox does not know what its %s and API server have used", name)
		}
		add(process.CPU/server, timed, "processor time of the %s by that of the API server", name)
	}
	return nil
}

func sum(counts map[string]int) (sum float64) {
	for _, n := range counts {
		sum += float64(n)
	}
	return sum
}
