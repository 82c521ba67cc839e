// SPDX-License-Identifier: Apache-2.0

package filelock_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
)

func TestWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := filelock.Try(path)
	require.NoError(t, err)
	waited := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := filelock.Wait(t.Context(), path, func() { close(waited) })
		if err == nil {
			err = second.Release()
		}
		got <- err
	}()
	<-waited
	require.NoError(t, first.Release())
	require.NoError(t, <-got)

	third, err := filelock.Try(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = filelock.Wait(ctx, path, func() { cancel(errors.New("no patience")) })
	require.ErrorContains(t, err, "no patience")
	require.NoError(t, third.Release())
}

func TestALockIsFreeForItsOwnerWhileOthersLookAtIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	ctx, stop := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error {
		for ctx.Err() == nil {
			if _, err := filelock.IsHeld(path); err != nil {
				return err
			}
		}
		return nil
	})
	for range 1000 {
		lock, err := filelock.Try(path)
		require.NoError(t, err)
		require.NotNil(t, lock)
		held, err := filelock.IsHeld(path)
		require.NoError(t, err)
		require.True(t, held)
		require.NoError(t, lock.Release())
	}
	stop()
	require.NoError(t, group.Wait())
}
