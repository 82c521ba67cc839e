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
	result, err := lintFile(file, pluginsDir)
	if err == nil {
		err = result.Print(out, file)
	}
	if err != nil {
		fmt.Fprintln(errs, "error:", err) //nolint:errcheck // the exit code reports it too
		return 1
	}
	return min(len(result.Errors), 1)
}

func lintFile(file, pluginsDir string) (lint.Result, error) {
	if pluginsDir != "" {
		if err := framework.LoadCustomPlugins(pluginsDir); err != nil {
			return lint.Result{}, fmt.Errorf("load the plugins of --plugins-dir: %w", err)
		}
	}
	text, err := os.ReadFile(file) //nolint:gosec // reading the file that the user names is what this is for
	if err != nil {
		return lint.Result{}, fmt.Errorf("read the configuration: %w", err)
	}
	return lint.Check(text), nil
}
