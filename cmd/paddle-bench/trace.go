// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace"
)

// traces plays a trace of training jobs with several schedulers.
func traces(args []string) int {
	s := trace.Default()
	flags := pflag.NewFlagSet("paddle-bench trace", pflag.ContinueOnError)
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for trace.json")
	flags.Float64SliceVar(&s.Loads, "loads", s.Loads, "GPU-seconds offered by capacity")
	flags.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, "which to play")
	seed := flags.Uint64("seed", 1, "the first seed")
	seeds := flags.Int("seeds", len(s.Seeds), "how many seeds, one after the other")
	flags.IntVar(&s.Jobs, "jobs", s.Jobs, "jobs to measure in a run")
	flags.IntVar(&s.Hosts, "hosts", s.Hosts, "hosts of 8 GPUs, about: whole racks are taken")
	limit := flags.Duration("cap", time.Duration(s.Cap)*time.Second, "longest duration of a job")
	flags.Float64Var(&s.Gbps[0], "node-gbps", s.Gbps[0], "one direction of a node's uplink")
	flags.Float64Var(&s.Gbps[1], "rack-gbps", s.Gbps[1], "one direction of a rack's uplink")
	flags.Float64Var(&s.Gbps[2], "block-gbps", s.Gbps[2], "one direction of a block's uplink")
	flags.StringVar((*string)(&s.Rings), "rings", string(s.Rings), "order in which ranks send to each other: by node (as NCCL does), rank or tree")
	flags.BoolVar(&s.Foreign, "foreign", false, "make jobs of one GPU plain Volcano Jobs, which the plugin leaves alone")
	flags.IntVar(&s.Workers, "workers", runtime.NumCPU(), "runs at a time, each in a process of its own; 0 means all in this one")
	flags.BoolVar(&s.Keep, "keep", false, "take the runs that trace.json has, if its settings are the same, and play the others only")
	one := flags.Bool("one", false, "play the one case that is told on standard input, and tell the run on standard output")
	if code, proceed := parse(flags, args, new([]string), nil); !proceed {
		return code
	}
	if *one {
		return finish(trace.One(os.Stdin, os.Stdout))
	}
	s.Cap = limit.Seconds()
	s.Seeds = s.Seeds[:0]
	for i := range *seeds {
		s.Seeds = append(s.Seeds, *seed+uint64(i))
	}
	if s.Workers > 0 {
		self, err := os.Executable()
		if err != nil {
			return finish(fmt.Errorf("find this program: %w", err))
		}
		s.Command = []string{self, "trace", "--one"}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return finish(trace.Bench(ctx, s, os.Stdout, os.Stderr))
}
