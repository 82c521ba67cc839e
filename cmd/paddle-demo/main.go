// SPDX-License-Identifier: Apache-2.0

// Command paddle-demo runs the documentation's jobs on a sandbox and reports how they end; only flags and signals live here.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/demo"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// interrupted is the exit code of a shell's ^C.
const interrupted = 130

// run returns the exit code: 0 when every job ended as it should, 2 for wrong flags, 3 where a real node is wanted and the
// machine does not allow it, 130 after ^C, 1 otherwise.
func run(args []string) int {
	flags := pflag.NewFlagSet("paddle-demo", pflag.ContinueOnError)
	keep := flags.Bool("keep", false, "leave the sandbox running until ^C, and print its kubeconfig")
	inContainers := flags.Bool("real", false, "run one of the jobs in real containers on a real node")
	state := flags.String("state", demo.DefaultStateDir, "folder of everything that the sandbox writes")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return 0
		}
		fmt.Fprintln(os.Stderr, "error:", err)
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "error: unknown argument %q: the demo takes flags only\n", flags.Arg(0))
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	show := demo.Run
	if *inContainers {
		show = demo.RunReal
	}
	if err := show(ctx, demo.Options{StateDir: *state, Keep: *keep, Out: os.Stdout}); err != nil {
		if ctx.Err() != nil && !errors.Is(err, demo.ErrFaults) {
			fmt.Fprintln(os.Stderr, "interrupted: the sandbox was taken down before every job had ended")
			return interrupted
		}
		fmt.Fprintln(os.Stderr, "error:", err)
		return box.ExitCode(err)
	}
	return 0
}
