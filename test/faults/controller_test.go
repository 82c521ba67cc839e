// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// controller is a process of paddlejob-controller that looks after one namespace, and its way to the API server.
type controller struct {
	*proxy
	name string

	mu    sync.Mutex
	ended bool
}

// startController starts one for a namespace, until the test ends. Nothing but what it watches makes it look at a job: the
// time at which it would look at all of them again is far away.
func startController(t *testing.T, namespace, name string, args ...string) *controller {
	t.Helper()
	p := newProxy(t)
	c := &controller{proxy: p, name: name}
	args = slices.Concat([]string{
		"--namespace=" + namespace, "--kubeconfig=" + p.kubeconfig(t), "--http-address=", "-v=3",
	}, args)
	require.NoError(t, cluster.StartSecond(sandbox.Controller, name, args...))
	t.Cleanup(c.end)
	return c
}

// die kills the process; another takes its place, as a Deployment would have it.
func (c *controller) die() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return
	}
	if err := cluster.Kill(c.name, syscall.SIGKILL); err != nil {
		panic(err)
	}
	if err := cluster.StartComponent(c.name); err != nil {
		panic(err)
	}
}

// end kills the process permanently.
func (c *controller) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	_ = cluster.Kill(c.name, syscall.SIGKILL) // it may have ended before
}

// says reports whether a text is in the controller's log.
func (c *controller) says(text string) (bool, error) {
	log, err := os.ReadFile(cluster.Logs(c.name))
	return strings.Contains(string(log), text), err
}
