// SPDX-License-Identifier: Apache-2.0

//go:build cgo

// Command paddle-plugin is the plugin paddle as a file that Volcano's own scheduler loads with --plugins-dir: make
// plugin-so builds paddle.so of it. It is no program, and without cgo there are no plugins.
package main

import (
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle"
)

// New is what Volcano looks up in the file; the plugin has the file's name.
func New(arguments framework.Arguments) framework.Plugin { return paddle.New(arguments) }

func main() {}
