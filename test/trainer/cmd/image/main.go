// SPDX-License-Identifier: Apache-2.0

// Command image builds the trainer's image as an archive for `ctr images import`; what it does lives in test/trainer/image.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

func main() {
	out := flag.String("o", "_output/trainer.tar", "the archive to write")
	flag.Parse()
	if err := image.Build(context.Background(), ".", *out, image.Options{}); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}
