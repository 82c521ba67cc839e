// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Build compiles the trainer of a clone into a static binary, and packs that into an archive.
func Build(ctx context.Context, root, archive string, o Options) error {
	dir, err := os.MkdirTemp("", "trainer-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the folder of what is temporary
	path := filepath.Join(dir, "trainer")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "./test/trainer/cmd/trainer") //nolint:gosec // no input
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the trainer: %w\n%s", err, out)
	}
	return Pack(path, archive, o)
}
