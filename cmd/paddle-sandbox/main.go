// SPDX-License-Identifier: Apache-2.0

// Command paddle-sandbox runs a Kubernetes control plane with Volcano and this project over simulated nodes; only flags and messages live here.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := newCommand().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		stop()
		os.Exit(1) //nolint:gocritic // stop has been called
	}
}
