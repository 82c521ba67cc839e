// SPDX-License-Identifier: Apache-2.0

// Command trainer replaces PaddlePaddle in the image of the end-to-end tests. Its code is in test/trainer.
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
