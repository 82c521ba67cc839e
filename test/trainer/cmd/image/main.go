// SPDX-License-Identifier: Apache-2.0

// Command image builds the trainer's image as an archive for `ctr images import`; what it does lives in test/trainer/image.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

func main() {
	var o image.Options
	out := flag.String("o", "_output/trainer.tar", "the archive to write")
	root := flag.String("root", ".", "the clone to build from")
	entrypoint := flag.String("entrypoint", image.Binary, "what containers run that give no command, its words parted by spaces")
	flag.Func("name", "a name of the image, may be given often (default: the images of the examples)", func(name string) error {
		o.Names = append(o.Names, image.Full(name))
		return nil
	})
	flag.Parse()
	o.Entrypoint = strings.Fields(*entrypoint)
	digest, err := image.Build(context.Background(), *root, *out, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println(*out, digest)
}
