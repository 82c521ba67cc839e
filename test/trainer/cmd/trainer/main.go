// SPDX-License-Identifier: Apache-2.0

// Command trainer stands in for PaddlePaddle in the end-to-end tests' image; what it does lives in test/trainer.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/paddle-volcano/paddle-volcano/test/trainer"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := trainer.Main(ctx, os.Args, os.Environ(), os.Stdout)
	stop()
	os.Exit(code)
}
