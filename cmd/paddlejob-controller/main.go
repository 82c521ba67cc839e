// SPDX-License-Identifier: Apache-2.0

// Command paddlejob-controller runs PaddleJobs as gangs under Volcano; what it does lives in controller/app.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/component-base/cli"

	"github.com/paddle-volcano/paddle-volcano/controller/app"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cmd := app.NewCommand()
	cmd.SetContext(ctx)
	code := cli.Run(cmd)
	stop()
	os.Exit(code)
}
