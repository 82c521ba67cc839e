// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/load"
)

// lives measures schedulers on a live control plane.
func lives(args []string) int {
	s := live.Default()
	quick := false
	for _, arg := range args {
		quick = quick || arg == "--quick"
	}
	if quick {
		s.Quick()
	}
	flags := pflag.NewFlagSet("paddle-bench live", pflag.ContinueOnError)
	flags.BoolVar(&s.Keep, "keep", false, "do not measure again what the folder's live.json holds, at whatever scale")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for live.json and profiles")
	flags.IntSliceVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes, of 8 GPUs each")
	flags.StringSliceVar(&s.Gangs, "cases", s.Gangs, "gangs and their size, before they are scaled")
	flags.StringSliceVar(&s.Forms, "forms", s.Forms, fmt.Sprintf("some of %v", load.Forms()))
	flags.StringSliceVar(&s.Schedulers, "schedulers", s.Schedulers, fmt.Sprintf("some of %v", live.Schedulers()))
	flags.Float64Var(&s.Scale, "scale", s.Scale, "how much of the cases is submitted")
	flags.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each scheduler in each case")
	flags.IntVar(&s.Concurrency, "concurrency", s.Concurrency, "requests that the limits make at a time")
	flags.IntVar(&s.Takeovers, "takeovers", s.Takeovers, "how often a place changes hands, to see how soon a gang that waits is bound; 0 leaves it out")
	flags.StringSliceVar(&s.SchedulerArgs, "scheduler-args", nil, "more arguments of our scheduler")
	flags.BoolVar(&s.Profile, "profile", s.Profile, "one more turn of the schedulers, for their processor profiles")
	flags.DurationVar(&s.Patience, "patience", s.Patience, "how long a turn may go without any progress")
	flags.Bool("quick", quick, "a part of it for a few minutes; other flags change it")
	if code, proceed := parse(flags, args, new([]string), nil); !proceed {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return finish(live.Run(ctx, s, os.Stdout, os.Stderr))
}
