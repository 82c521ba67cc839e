// SPDX-License-Identifier: Apache-2.0

// Command render writes the manifests of make kind-up into a folder; only flags live here.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/paddle-volcano/paddle-volcano/test/kind"
)

func main() {
	var s kind.Settings
	pflag.StringVar(&s.Volcano, "volcano", "", "folder of Volcano's module")
	pflag.StringVar(&s.Scheduler, "stock-image", "", "image of Volcano's own scheduler")
	pflag.StringVar(&s.Kwok, "kwok", "hack/kind", "folder with kwok.yaml")
	pflag.StringVar(&s.KwokVersion, "kwok-version", "", "version of kwok's image")
	pflag.IntVar(&s.Nodes, "nodes", 0, "number of simulated nodes")
	folder := pflag.String("out", "_output/kind/manifests", "folder for the manifests")
	pflag.Parse()
	if err := kind.Write(s, *folder); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
