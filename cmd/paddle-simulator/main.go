// SPDX-License-Identifier: Apache-2.0

// Command paddle-simulator answers one question of kubectl-paddle about the scheduler, from the standard input to the standard output;
// what it does lives in cmd/kubectl-paddle/simulation.
package main

import (
	"fmt"
	"os"

	"k8s.io/klog/v2"

	"github.com/paddle-volcano/paddle-volcano/cmd/kubectl-paddle/simulation"
)

func main() {
	klog.SetLogger(klog.Logger{}) // users do not need the scheduler's log
	if err := simulation.Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
