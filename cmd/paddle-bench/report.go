// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/bench/report"
)

// reports makes one page of what the others wrote.
func reports(args []string) int {
	flags := pflag.NewFlagSet("paddle-bench report", pflag.ContinueOnError)
	folder := flags.String("out", "_output", "folder below which the benchmarks wrote, and that bench/report.html goes to")
	against := flags.String("against", "", "such a folder of an earlier time, to tell what has changed")
	if code, proceed := parse(flags, args, new([]string), nil); !proceed {
		return code
	}
	return finish(report.Make(*folder, *against, os.Stdout))
}
