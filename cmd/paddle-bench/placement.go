// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
)

// placement measures the planner.
func placement(args []string) int {
	settings := bench.Settings{}
	flags := pflag.NewFlagSet("paddle-bench placement", pflag.ContinueOnError)
	flags.Uint64Var(&settings.Seed, "seed", 1, "seed of everything that is drawn")
	flags.StringVar(&settings.Folder, "out", "_output/bench", "folder for placement.json")
	flags.IntVar(&settings.Instances, "instances", bench.DefaultInstances, "small instances against brute force, each way")
	flags.IntVar(&settings.Clusters, "clusters", bench.DefaultClusters, "loaded clusters against the baselines")
	flags.StringSliceVar(&settings.Only, "only", nil, fmt.Sprintf("parts to run: some of %v; none means all", bench.Parts()))
	flags.IntVar(&settings.Workers, "workers", 0, "pieces of work at a time; 0 means one for each CPU")
	flags.BoolVar(&settings.NoTenfold, "no-tenfold", false, "leave out the fleets of 50,000 and 100,000 nodes")
	show := flags.Int("show", -1, "print one instance of a part (--only), with the optimum or the baselines, and stop")
	noExact := flags.Bool("no-exact", false, "with --show: switch the exact search off")
	if code, proceed := parse(flags, args, &settings.Only, bench.Parts()); !proceed {
		return code
	}
	switch {
	case *show < 0:
		return finish(bench.Run(settings, os.Stdout, os.Stderr))
	case slices.Contains(settings.Only, "baselines"):
		return finish(bench.ShowCluster(settings.Seed, *show, os.Stdout))
	default:
		return finish(bench.ShowInstance(settings.Seed, *show, *noExact, os.Stdout))
	}
}
