// SPDX-License-Identifier: Apache-2.0

// Command paddle-bench runs the benchmarks: of the planner, the plugin, the controller, schedulers on a live control plane, and a trace. It makes
// a report of all, compares a slice with figures that are kept, and runs the soak test. Only flags live here.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/gate"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/peers"
	"github.com/paddle-volcano/paddle-volcano/test/bench/report"
	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
	"github.com/paddle-volcano/paddle-volcano/test/session"
	"github.com/paddle-volcano/paddle-volcano/test/soak"
)

// command declares its flags, and returns what runs once they are parsed.
type command func(flags *pflag.FlagSet, args []string) func(context.Context) error

var commands = map[string]command{
	"placement": placements, "session": sessions, "controller": controllers, "soak": soaks, "trace": traces, "live": lives, "peers": systems, "report": reports, "gate": gates,
}

// errUsage is wrapped by errors about flags that only show when they are used.
var errUsage = errors.New("wrong flags")

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit code: 0 also where a target was missed, 2 for wrong flags, 1 where what is measured violates an invariant.
func run(args []string) int {
	names := strings.Join(slices.Sorted(maps.Keys(commands)), "|")
	switch {
	case len(args) > 0 && (args[0] == "-h" || args[0] == "--help"):
		fmt.Fprintf(os.Stderr, "paddle-bench %s [flags]; --help after any of them lists its flags\n", names)
		return 0
	case len(args) == 0 || commands[args[0]] == nil:
		return fail(2, fmt.Errorf("unknown arguments %q: want one of %s first", args, names))
	}
	flags := pflag.NewFlagSet("paddle-bench "+args[0], pflag.ContinueOnError)
	work := commands[args[0]](flags, args[1:])
	switch err := flags.Parse(args[1:]); {
	case errors.Is(err, pflag.ErrHelp):
		return 0
	case err != nil:
		return fail(2, err)
	case flags.NArg() > 0:
		return fail(2, fmt.Errorf("unknown arguments %q", flags.Args()))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := work(ctx); errors.Is(err, errUsage) {
		return fail(2, err)
	} else if err != nil {
		return fail(1, err)
	}
	return 0
}

func fail(code int, err error) int {
	fmt.Fprintln(os.Stderr, "error:", err)
	return code
}

// known returns an error if a part does not exist.
func known(only, parts []string) error {
	for _, part := range only {
		if !slices.Contains(parts, part) {
			return fmt.Errorf("%w: unknown part %q: want some of %v", errUsage, part, parts)
		}
	}
	return nil
}

// shown prints what a benchmark has written into a file.
func shown(err error, folder, file string) error {
	if err != nil {
		return err
	}
	return report.Show(filepath.Join(folder, file), os.Stdout)
}

// placements measures the planner.
func placements(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := bench.Settings{}
	flags.Uint64Var(&s.Seed, "seed", 1, "seed of everything that is drawn")
	flags.StringVar(&s.Folder, "out", "_output/bench", "folder for placement.json")
	flags.IntVar(&s.Instances, "instances", bench.DefaultInstances, "small instances against brute force, each way")
	flags.IntVar(&s.Clusters, "clusters", bench.DefaultClusters, "loaded clusters against the baselines")
	flags.StringSliceVar(&s.Only, "only", nil, fmt.Sprintf("parts to run: some of %v; none means all", bench.Parts()))
	flags.BoolVar(&s.NoTenfold, "no-tenfold", false, "leave out the fleets of 50,000 and 100,000 nodes")
	return func(context.Context) error {
		if err := known(s.Only, bench.Parts()); err != nil {
			return err
		}
		return shown(bench.Run(s, os.Stderr), s.Folder, "placement.json")
	}
}

// sessions measures the scheduler plugin.
func sessions(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := session.Default()
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for session.json")
	flags.StringSliceVar(&s.Only, "only", nil, fmt.Sprintf("parts to run: some of %v; none means all", session.Parts()))
	flags.IntVar(&s.Runs, "runs", s.Runs, "speed: runs of the plugin in each case, and of stock where it is short")
	flags.BoolVar(&s.Short, "short", false, "speed: leave out the cases that look at all nodes")
	flags.IntVar(&s.Largest, "largest", s.Largest, "speed: leave out clusters of more nodes than this; 0 leaves out none")
	flags.IntVar(&s.Clusters, "clusters", s.Clusters, "quality: clusters for each scenario")
	flags.IntVar(&s.Sessions, "sessions", s.Sessions, "churn: sessions")
	flags.IntVar(&s.Before, "before", s.Before, "churn: jobs that are bound and go in a hurry before, so that what is bounded is full")
	return func(context.Context) error {
		if err := known(s.Only, session.Parts()); err != nil {
			return err
		}
		return shown(session.Run(s, os.Stderr), s.Folder, "session.json")
	}
}

// controllers measures the controller.
func controllers(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := live.DefaultJobs()
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for controller.json")
	flags.IntVar(&s.Jobs, "jobs", s.Jobs, "jobs of each kind, of 2 servers and 8 workers")
	flags.IntVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes")
	flags.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each of the two kinds that are compared, forth and back")
	flags.DurationVar(&s.RunFor, "run-for", s.RunFor, "how long workers run")
	return func(ctx context.Context) error {
		return shown(live.RunJobs(ctx, s, os.Stderr), s.Folder, "controller.json")
	}
}

// soaks creates, deletes and breaks jobs for a long time.
func soaks(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := soak.Default()
	flags.DurationVar(&s.For, "for", s.For, "how long; no round begins later")
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "decides what is drawn")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for report.json")
	return func(ctx context.Context) error {
		return shown(soak.Run(ctx, s, os.Stderr), s.Folder, "report.json")
	}
}

// traces replays a trace of training jobs with several schedulers.
func traces(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := trace.Default()
	done := s.Flags(flags)
	flags.IntVar(&s.Workers, "workers", runtime.NumCPU(), "runs at a time, each in a process of its own; 0 means all in this one")
	one := flags.Bool("one", false, "play the one case that is read from standard input, and write the run to standard output")
	return func(ctx context.Context) error {
		if *one {
			return trace.One(os.Stdin, os.Stdout)
		}
		done()
		if s.Workers > 0 {
			self, err := os.Executable()
			if err != nil {
				return fmt.Errorf("find this program: %w", err)
			}
			s.Command = []string{self, "trace", "--one"}
		}
		return shown(trace.Bench(ctx, s, os.Stdout, os.Stderr), s.Folder, "trace.json")
	}
}

// lives measures schedulers on a live control plane.
func lives(flags *pflag.FlagSet, args []string) func(context.Context) error {
	s := live.Default()
	quick := slices.Contains(args, "--quick")
	if quick {
		s.Quick()
	}
	s.Flags(flags)
	flags.Bool("quick", quick, "a part of it for a few minutes; other flags change it")
	return func(ctx context.Context) error {
		return shown(live.Run(ctx, s, os.Stderr), s.Folder, "live.json")
	}
}

// systems measures schedulers of other projects, each on a new control plane.
func systems(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := peers.Default()
	s.Flags(flags)
	return func(ctx context.Context) error { return shown(peers.Run(ctx, s, os.Stderr), s.Folder, s.File()) }
}

// gates compares a slice of the benchmarks with figures that are kept.
func gates(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	s := gate.Default()
	flags.StringSliceVar(&s.Only, "only", s.Only, "parts to run and compare")
	flags.IntVar(&s.Keep, "keep", 0, "keep the figures of this many runs instead")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for what the benchmarks write")
	return func(ctx context.Context) error {
		if err := known(s.Only, gate.Parts()); err != nil {
			return err
		}
		return gate.Run(ctx, s, os.Stdout, os.Stderr)
	}
}

// reports makes one page of what the others wrote.
func reports(flags *pflag.FlagSet, _ []string) func(context.Context) error {
	folder := flags.String("out", "_output", "folder below which the benchmarks wrote, and that bench/report.html goes to")
	return func(context.Context) error { return report.Make(*folder, os.Stdout) }
}
