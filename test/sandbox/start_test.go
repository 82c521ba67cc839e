// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// nothingRemains checks that a start that came to nothing left no process, and a folder that can be used again.
func nothingRemains(t *testing.T, dir string) {
	t.Helper()
	pids, err := filepath.Glob(filepath.Join(dir, "pids", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, pids)
	for _, file := range pids {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, file)
	}
	record, running, err := sandbox.ReadRecord(dir)
	require.NoError(t, err)
	require.False(t, running)
	require.False(t, record.Ready)
	require.NotEmpty(t, record.Failure)
}

func TestComponentDiesAtTheStart(t *testing.T) {
	t.Parallel()
	cases := map[string]string{sandbox.APIServer: "unknown flag: --no-such-flag"}
	if live.All() {
		cases[sandbox.Etcd], cases[sandbox.Scheduler] = "flag provided but not defined: -no-such-flag", "unknown flag: --no-such-flag"
	}
	for component, want := range cases {
		t.Run(component, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := sandbox.Start(t.Context(), sandbox.Options{
				StateDir: dir, StockScheduler: true, WithoutController: true, Progress: testWriter{t},
				Args: map[string][]string{component: {"--no-such-flag"}},
			})
			require.ErrorContains(t, err, "component "+component+" died by itself (exit status ")
			require.ErrorContains(t, err, want)
			nothingRemains(t, dir)
		})
	}
}

// cancelOn cancels a start when a certain line is reported.
type cancelOn struct {
	word   string
	cancel context.CancelCauseFunc
}

func (c cancelOn) Write(line []byte) (int, error) {
	if strings.Contains(string(line), c.word) {
		c.cancel(errors.New("changed my mind"))
	}
	return len(line), nil
}

func TestCancelledStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := sandbox.Start(ctx, sandbox.Options{
		StateDir: dir, StockScheduler: true, WithoutController: true, Progress: cancelOn{"installing", cancel},
	})
	require.ErrorIs(t, err, context.Canceled)
	nothingRemains(t, dir)
}
