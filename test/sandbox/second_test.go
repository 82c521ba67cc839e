// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// shells is a sandbox of which every component is a shell.
func shells(t *testing.T, script string) *Sandbox {
	t.Helper()
	l := layout(t.TempDir())
	lock, err := l.claim()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, lock.release()) })
	return &Sandbox{
		layout: l, progress: progress{out: io.Discard, mu: &sync.Mutex{}}, record: &Record{}, failed: make(chan error, 1),
		components: map[string]component{Controller: {name: Controller, binary: "/bin/sh", args: []string{"-c", script, "first"}}},
		processes:  map[string]*process{},
	}
}

func TestSecondProcessOfAComponent(t *testing.T) {
	t.Parallel()
	s := shells(t, `echo "$0 $*"; exec sleep 600`)
	require.ErrorContains(t, s.StartSecond(Kwok, "other"), "not part of this sandbox")
	require.NoError(t, s.StartSecond(Controller, "other", "and", "more"))
	require.ErrorContains(t, s.StartSecond(Controller, "other"), "already")
	said := func() string {
		text, err := os.ReadFile(s.Logs("other"))
		require.NoError(t, err)
		return string(text)
	}
	require.Eventually(t, func() bool { return said() == "first and more\n" }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"-c", `echo "$0 $*"; exec sleep 600`, "first"}, s.components[Controller].args, "the first has its own")

	require.NoError(t, s.Kill("other", syscall.SIGKILL))
	require.NoError(t, s.StartComponent("other"))
	require.Eventually(t, func() bool { return said() == "first and more\nfirst and more\n" }, time.Minute, time.Millisecond)
	require.Equal(t, []string{"other"}, clients(s.processes), "it ends with the sandbox")
	require.NoError(t, s.Kill("other", syscall.SIGKILL))
}

func TestAwaitEnd(t *testing.T) {
	t.Parallel()
	s := shells(t, `read go < go; exit 3`)
	require.NoError(t, syscall.Mkfifo(string(s.layout)+"/go", 0o600))
	require.ErrorContains(t, s.AwaitEnd(t.Context(), "other"), "never started")
	require.NoError(t, s.StartSecond(Controller, "other"))
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.AwaitEnd(over, "other"), context.Canceled)
	require.NoError(t, os.WriteFile(string(s.layout)+"/go", []byte("go\n"), 0o600))
	require.NoError(t, s.AwaitEnd(t.Context(), "other"))
	select {
	case err := <-s.failed:
		require.NoError(t, err)
	default:
	}
}
