// SPDX-License-Identifier: Apache-2.0

// Package process is one process of a job: its environment, options, network and log. A test runs many of them.
package process

import (
	"fmt"
	"io"
	"maps"
	"net"
	"path/filepath"
	"strings"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// Process is a process of a job.
type Process struct {
	Env     map[string]string
	Options Options
	Net     *wire.Net
	// Dir is the working directory, and Out where the log goes, one Write a line.
	Dir string
	Out io.Writer
}

// Say writes a line of the log.
func (p *Process) Say(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Out, format+"\n", args...) // a log that cannot be written has no other place to say so
}

// Child returns the process that this one starts with more variables.
func (p *Process) Child(more map[string]string) *Process {
	child := *p
	child.Env = maps.Clone(p.Env)
	maps.Copy(child.Env, more)
	return &child
}

// ModelDir returns where checkpoints and the model are written.
func (p *Process) ModelDir() string {
	if p.Options.ModelDir == "" {
		return filepath.Join(p.Dir, "models")
	}
	if filepath.IsAbs(p.Options.ModelDir) {
		return p.Options.ModelDir
	}
	return filepath.Join(p.Dir, p.Options.ModelDir)
}

// OwnIP returns the IP in a pod's environment, or nothing if there is none. PADDLE_CURRENT_IP is always an IP; POD_IP may be a name.
func OwnIP(env map[string]string) string {
	for _, name := range []string{"PADDLE_CURRENT_IP", "POD_IP"} {
		if value := strings.TrimSpace(env[name]); net.ParseIP(value) != nil {
			return value
		}
	}
	return ""
}
