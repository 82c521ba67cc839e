// SPDX-License-Identifier: Apache-2.0

// Command kubectl-paddle is the plugin `kubectl paddle`; what it does lives in the packages below it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/command"
)

func main() {
	klog.SetLogger(klog.Logger{}) // users do not need what libraries log
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command.Run(ctx, os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	stop()
	os.Exit(code)
}
