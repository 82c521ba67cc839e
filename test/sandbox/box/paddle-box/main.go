// SPDX-License-Identifier: Apache-2.0

// Command paddle-box is process 1 of the sandbox's box, and of every pod in it.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/box/inside"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "pause" {
		pause()
		return
	}
	if err := inside.Main(); err != nil {
		fmt.Fprintln(os.Stderr, "paddle-box:", err)
		os.Exit(1)
	}
}

// pause holds the namespaces of a pod until it receives a signal.
func pause() {
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
}
