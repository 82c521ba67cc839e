// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// modulePath marks the root of a clone of this project.
const modulePath = "module github.com/paddle-volcano/paddle-volcano\n"

// Root walks up from the working folder to the root of the clone.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the working folder: %w", err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), modulePath) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("this is no clone of paddle-volcano: run it inside one (the sandbox is built from its sources and manifests), or name one")
		}
		dir = parent
	}
}

// Module returns the version of a module that the module in a folder of the clone requires, and the folder of its files.
func Module(ctx context.Context, folder, path string) (version, dir string, err error) {
	root, err := Root()
	if err != nil {
		return "", "", err
	}
	folder = filepath.Join(root, folder)
	if _, err = goOutput(ctx, folder, "mod", "download", path); err != nil {
		return "", "", fmt.Errorf("find module %s: %w", path, err)
	}
	found, err := goOutput(ctx, folder, "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", path)
	if err != nil {
		return "", "", fmt.Errorf("find module %s: %w", path, err)
	}
	version, dir, _ = strings.Cut(found, "\n")
	return version, dir, nil
}
