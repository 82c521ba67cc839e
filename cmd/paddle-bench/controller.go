// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live"
)

// controllers measures the controller.
func controllers(args []string) int {
	s := live.DefaultJobs()
	flags := pflag.NewFlagSet("paddle-bench controller", pflag.ContinueOnError)
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for controller.json")
	flags.IntVar(&s.Jobs, "jobs", s.Jobs, "jobs of each kind, of 2 servers and 8 workers")
	flags.IntVar(&s.Nodes, "nodes", s.Nodes, "simulated nodes")
	flags.IntVar(&s.Rounds, "rounds", s.Rounds, "rounds of each of the two kinds that are compared, forth and back")
	flags.DurationVar(&s.RunFor, "run-for", s.RunFor, "how long workers run")
	flags.DurationVar(&s.Patience, "patience", s.Patience, "how long a round may go without any progress")
	if code, proceed := parse(flags, args, new([]string), nil); !proceed {
		return code
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return finish(live.RunJobs(ctx, s, os.Stdout, os.Stderr))
}
