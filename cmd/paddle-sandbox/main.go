// SPDX-License-Identifier: Apache-2.0

// Command paddle-sandbox runs a Kubernetes control plane with Volcano and this project over simulated nodes; only flags and messages live here.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box"
)

// exitUnsupported is the exit code where the machine does not allow a real node.
const exitUnsupported = 3

func exitCode(err error) int {
	if unsupported := (*box.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return exitUnsupported
	}
	// The process that holds a detached sandbox has printed the reason.
	if holder := (*exec.ExitError)(nil); errors.As(err, &holder) && holder.ExitCode() > 0 {
		return holder.ExitCode()
	}
	return 1
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(exitCode(err)) //nolint:gocritic // stop has been called
	}
}
