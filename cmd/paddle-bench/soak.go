// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/soak"
)

// soaks lets jobs come, go and break for a long time.
func soaks(args []string) int {
	s := soak.Default()
	flags := pflag.NewFlagSet("paddle-bench soak", pflag.ContinueOnError)
	flags.DurationVar(&s.For, "for", s.For, "how long; no round begins later")
	flags.DurationVar(&s.Round, "round", s.Round, "how long operations are drawn in each round")
	flags.DurationVar(&s.Pause, "pause", s.Pause, "time between two operations")
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "decides what is drawn")
	flags.IntVar(&s.Jobs, "jobs", s.Jobs, "most jobs at a time that have not ended")
	flags.IntVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for report.json")
	flags.DurationVar(&s.Patience, "patience", s.Patience, "how long all jobs may take to end, or to be gone")
	if code, proceed := parse(flags, args, new([]string), nil); !proceed {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return finish(soak.Run(ctx, s, os.Stdout))
}
