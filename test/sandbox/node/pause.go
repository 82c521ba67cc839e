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
	data, err := os.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	var out bytes.Buffer
	if _, err := image.Pack(&out, data, image.Options{Names: []string{PauseImage}, Entrypoint: []string{image.Binary, "pause"}}); err != nil {
		return fmt.Errorf("make the pause image: %w", err)
	}
	if err := os.WriteFile(archive, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the pause image: %w", err)
	}
	return nil
}
