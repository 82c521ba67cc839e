// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/session"
)

// sessions measures the scheduler plugin.
func sessions(args []string) int {
	s := session.Default()
	flags := pflag.NewFlagSet("paddle-bench session", pflag.ContinueOnError)
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "seed of everything that is drawn")
	flags.StringVar(&s.Folder, "out", s.Folder, "folder for session.json")
	flags.StringSliceVar(&s.Only, "only", nil, fmt.Sprintf("parts to run: some of %v; none means all", session.Parts()))
	flags.IntVar(&s.Runs, "runs", s.Runs, "speed: runs of the plugin in each case, and of stock where it is short")
	flags.BoolVar(&s.Short, "short", false, "speed: leave out the cases that look at all nodes")
	flags.IntVar(&s.Largest, "largest", s.Largest, "speed: leave out clusters of more nodes than this; 0 leaves out none")
	flags.IntVar(&s.Pairs, "pairs", s.Pairs, "overhead: pairs of sessions without and with the plugin")
	flags.IntVar(&s.Clusters, "clusters", s.Clusters, "quality: clusters for each scenario")
	flags.IntVar(&s.Queues, "queues", s.Queues, "queues: clusters with more jobs than fit")
	flags.IntVar(&s.Instances, "instances", s.Instances, "optimality: instances of each scenario")
	flags.IntVar(&s.Effort, "effort", s.Effort, "optimality: the planner's budget, in multiples of its usual one")
	flags.IntVar(&s.Sessions, "sessions", s.Sessions, "churn: sessions")
	flags.IntVar(&s.Before, "before", s.Before, "churn: jobs that are bound and go in a hurry before, so that what is bounded is full")
	if code, proceed := parse(flags, args, &s.Only, session.Parts()); !proceed {
		return code
	}
	return finish(session.Run(s, os.Stdout, os.Stderr))
}
