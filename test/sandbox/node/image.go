// SPDX-License-Identifier: Apache-2.0

package node

import (
	"bytes"
	"fmt"
	"os"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/image"
)

// WritePause writes an archive of PauseImage, whose program is paddle-box.
func WritePause(binary, archive string) error {
	return writeImage(binary, archive, image.Options{Names: []string{PauseImage}, Entrypoint: []string{image.Binary, "pause"}})
}

// WriteBarrier writes an archive of the image that pods of PaddleJobs run first, under the name that they know and with the
// user of its Dockerfile.
func WriteBarrier(binary, name, archive string) error {
	return writeImage(binary, archive, image.Options{Names: []string{image.Full(name)}, User: "65532:65532"})
}

func writeImage(binary, archive string, o image.Options) error {
	data, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("make the image %s: %w", o.Names[0], err)
	}
	var out bytes.Buffer
	if _, err := image.Pack(&out, data, o); err != nil {
		return fmt.Errorf("make the image %s: %w", o.Names[0], err)
	}
	if err := os.WriteFile(archive, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the image %s: %w", o.Names[0], err)
	}
	return nil
}
