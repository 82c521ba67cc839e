// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

func TestClaimStateFolder(t *testing.T) {
	l := layout(filepath.Join(t.TempDir(), "made", "on", "the", "way"))
	lock, err := l.claim()
	require.NoError(t, err)
	require.NoError(t, l.write(&Record{PID: 1, Nodes: 3}))
	require.NoError(t, os.WriteFile(l.logs(Etcd), []byte("old"), 0o600))

	_, err = l.claim()
	require.ErrorContains(t, err, "a sandbox runs in "+string(l)+" already")
	record, running, err := ReadRecord(string(l))
	require.NoError(t, err)
	require.True(t, running)
	require.Equal(t, 3, record.Nodes)

	require.NoError(t, lock.release())
	_, running, err = ReadRecord(string(l))
	require.NoError(t, err)
	require.False(t, running)
	lock, err = l.claim()
	require.NoError(t, err)
	require.NoFileExists(t, l.logs(Etcd), "the earlier sandbox's files are gone")
	require.NoFileExists(t, l.marker())
	require.NoError(t, lock.release())
}

func TestClaimLeavesOtherFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	require.NoError(t, os.WriteFile(file, []byte("years of work"), 0o600))
	_, err := layout(dir).claim()
	require.ErrorContains(t, err, "holds files that are no sandbox's")
	require.FileExists(t, file)
	require.NoFileExists(t, layout(dir).lock())
}

func TestNoSandbox(t *testing.T) {
	dir := t.TempDir()
	_, _, err := ReadRecord(dir)
	require.ErrorIs(t, err, ErrNone)
	ran, err := Down(t.Context(), dir)
	require.NoError(t, err)
	require.False(t, ran)
	require.Empty(t, ComponentStatuses(dir))
}

func TestWaitLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := tryLock(path)
	require.NoError(t, err)
	waited := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := waitLock(t.Context(), path, func() { close(waited) })
		if err == nil {
			err = second.release()
		}
		got <- err
	}()
	<-waited
	require.NoError(t, first.release())
	require.NoError(t, <-got)

	third, err := tryLock(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = waitLock(ctx, path, func() { cancel(errors.New("no patience")) })
	require.ErrorContains(t, err, "no patience")
	require.NoError(t, third.release())
}

func TestPortsAreHeld(t *testing.T) {
	// Locks, not listening sockets, separate two sandboxes: no process listens on these ports yet.
	a, b := &ports{}, &ports{}
	taken := map[int]bool{}
	for range 200 {
		for _, p := range []*ports{a, b} {
			port, err := p.take()
			require.NoError(t, err)
			require.False(t, taken[port], "port %d was given twice", port)
			require.True(t, port >= firstPort && port <= lastPort)
			taken[port] = true
		}
	}
	require.NoError(t, a.release())
	require.NoError(t, b.release())
}

func TestPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", loopback+":0")
	require.NoError(t, err)
	_, text, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	require.False(t, free(port))
	require.NoError(t, listener.Close())
	require.True(t, free(port))
}

func TestALockIsFreeForItsOwnerWhileOthersLookAtIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error {
		for ctx.Err() == nil {
			if _, err := isLocked(path); err != nil {
				return err
			}
		}
		return nil
	})
	for range 1000 {
		lock, err := tryLock(path)
		require.NoError(t, err)
		require.NotNil(t, lock)
		held, err := isLocked(path)
		require.NoError(t, err)
		require.True(t, held)
		require.NoError(t, lock.release())
	}
	stop()
	require.NoError(t, group.Wait())
}
