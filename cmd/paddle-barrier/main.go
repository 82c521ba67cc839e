// SPDX-License-Identifier: Apache-2.0

// Command paddle-barrier is the first init container of a PaddleJob's pods; what it does lives in controller/barrier.
package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/paddle-volcano/paddle-volcano/controller/barrier"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := barrier.Main(ctx, os.Args[1:], os.LookupEnv, net.DefaultResolver, os.Stdout)
	stop()
	os.Exit(code)
}
