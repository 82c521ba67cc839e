// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// With --keep the sandbox runs until ^C. .ci/run runs `make demo` itself.
func TestRun(t *testing.T) {
	live.SkipUnlessAll(t)
	const state = "../../_output/test-demo"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &transcript{on: "kubectl get pdj", do: func() {
		_, up, err := sandbox.ReadRecord(state)
		require.NoError(t, err)
		require.True(t, up)
		cancel()
	}}
	require.NoError(t, Run(ctx, Options{StateDir: state, Keep: true, Out: out}), "%s", out)
	for _, want := range []string{
		"Every job ended as it should.", "$ kubectl paddle map", "$ kubectl paddle list -A", "$ kubectl paddle why -n too-large too-large",
		"too-large waits", `Warning: unknown field "spec.cleanPolicy"`, "export KUBECONFIG=", "ctr-volcano        Completed",
	} {
		require.Contains(t, out.String(), want)
	}
	for _, j := range jobs() {
		if !j.raw && !j.waits {
			require.Regexp(t, `(?m)^`+j.namespace+` +`+j.name+` +Completed`, out.String(), "the list shows each job as it ended")
		}
	}
	requireDown(t, state)
}

func TestRunStopsTheSandboxWhenItIsInterrupted(t *testing.T) {
	live.SkipUnlessAll(t)
	const state = "../../_output/test-demo-interrupted"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &transcript{on: "Running", do: cancel}
	require.ErrorIs(t, Run(ctx, Options{StateDir: state, Out: out}), context.Canceled, "%s", out)
	require.NotContains(t, out.String(), "Try next")
	requireDown(t, state)
}

func requireDown(t *testing.T, state string) {
	t.Helper()
	_, up, err := sandbox.ReadRecord(state)
	require.NoError(t, err)
	require.False(t, up)
}

// transcript keeps what is written, and does something once when a text has been.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
	on   string
	do   func()
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.text.Write(p)
	if w.on != "" && strings.Contains(w.text.String(), w.on) {
		w.on = ""
		w.do()
	}
	return n, err
}

func (w *transcript) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
