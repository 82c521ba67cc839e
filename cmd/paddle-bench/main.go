// SPDX-License-Identifier: Apache-2.0

// Command paddle-bench measures the planner of placements; only flags live here.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/placement/bench"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit code: 0 also where a bar was missed, 2 for wrong flags, 1 for a broken promise of the planner.
func run(args []string) int {
	settings := bench.Settings{}
	flags := pflag.NewFlagSet("paddle-bench placement", pflag.ContinueOnError)
	flags.Uint64Var(&settings.Seed, "seed", 1, "seed of everything that is drawn")
	flags.StringVar(&settings.Folder, "out", "_output/bench", "folder for placement.json and placement.svg")
	flags.IntVar(&settings.Instances, "instances", bench.DefaultInstances, "small instances against brute force, each way")
	flags.IntVar(&settings.Clusters, "clusters", bench.DefaultClusters, "loaded clusters against the baselines")
	flags.StringSliceVar(&settings.Only, "only", nil, fmt.Sprintf("parts to run: some of %v; none means all", bench.Parts()))
	flags.IntVar(&settings.Workers, "workers", 0, "pieces of work at a time; 0 means one for each CPU")
	flags.BoolVar(&settings.NoTenfold, "no-tenfold", false, "leave out the fleets of 50,000 and 100,000 nodes")
	show := flags.Int("show", -1, "print one instance of a part (--only), with the optimum or the baselines, and stop")
	noExact := flags.Bool("no-exact", false, "with --show: switch the exact search off")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0
		}
		return wrong(err.Error())
	}
	if flags.NArg() != 1 || flags.Arg(0) != "placement" {
		return wrong(fmt.Sprintf("unknown arguments %q: want placement", flags.Args()))
	}
	for _, part := range settings.Only {
		if !slices.Contains(bench.Parts(), part) {
			return wrong(fmt.Sprintf("unknown part %q: want some of %v", part, bench.Parts()))
		}
	}
	var err error
	switch {
	case *show < 0:
		err = bench.Run(settings, os.Stdout, os.Stderr)
	case slices.Contains(settings.Only, "baselines"):
		err = bench.ShowCluster(settings.Seed, *show, os.Stdout)
	default:
		err = bench.ShowInstance(settings.Seed, *show, *noExact, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		return 1
	}
	return 0
}

func wrong(message string) int {
	fmt.Fprintln(os.Stderr, "error:", message)
	return 2
}
