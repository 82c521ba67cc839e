// SPDX-License-Identifier: Apache-2.0

// Command paddle-bench measures the planner of placements, the scheduler plugin and the controller, soaks them, plays a trace, measures schedulers live, and makes a report of all; only flags live here.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/pflag"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run returns the exit code: 0 also where a bar was missed, 2 for wrong flags, 1 for a broken promise of what is measured.
func run(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "placement":
			return placement(args[1:])
		case "session":
			return sessions(args[1:])
		case "controller":
			return controllers(args[1:])
		case "soak":
			return soaks(args[1:])
		case "trace":
			return traces(args[1:])
		case "live":
			return lives(args[1:])
		case "report":
			return reports(args[1:])
		case "-h", "--help":
			fmt.Fprintln(os.Stderr, "paddle-bench placement|session|controller|soak|trace|live|report [flags]; --help after any of them tells its flags")
			return 0
		}
	}
	return wrong(fmt.Sprintf("unknown arguments %q: want placement, session, controller, soak, trace, live or report first", args))
}

// parse returns the exit code and false where there is nothing more to do.
func parse(flags *pflag.FlagSet, args []string, only *[]string, parts []string) (code int, proceed bool) {
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0, false
		}
		return wrong(err.Error()), false
	}
	if flags.NArg() > 0 {
		return wrong(fmt.Sprintf("unknown arguments %q", flags.Args())), false
	}
	for _, part := range *only {
		if !slices.Contains(parts, part) {
			return wrong(fmt.Sprintf("unknown part %q: want some of %v", part, parts)), false
		}
	}
	return 0, true
}

// finish returns the exit code after the work.
func finish(err error) int {
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
