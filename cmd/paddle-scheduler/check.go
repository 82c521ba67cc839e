// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"

	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/config/lint"
)

// check prints what is wrong with the configuration in a file, and gives the exit code: 1 if there is any error, or the
// file cannot be read. Plugins in pluginsDir, "" for none, are known as well.
func check(file, pluginsDir string, out, errs io.Writer) int {
	ok, err := checkFile(file, pluginsDir, out)
	if err != nil {
		fmt.Fprintln(errs, "error:", err) //nolint:errcheck // the exit code reports it too
	}
	if err != nil || !ok {
		return 1
	}
	return 0
}

func checkFile(file, pluginsDir string, out io.Writer) (ok bool, err error) {
	if pluginsDir != "" {
		if err := framework.LoadCustomPlugins(pluginsDir); err != nil {
			return false, fmt.Errorf("load the plugins of --plugins-dir: %w", err)
		}
	}
	text, err := os.ReadFile(file) //nolint:gosec // reading the file that the user names is what this is for
	if err != nil {
		return false, fmt.Errorf("read the configuration: %w", err)
	}
	result := lint.Check(text)
	if err := result.Print(out, file); err != nil {
		return false, fmt.Errorf("print the errors and warnings: %w", err)
	}
	return len(result.Errors) == 0, nil
}
