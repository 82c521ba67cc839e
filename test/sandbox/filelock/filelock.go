// SPDX-License-Identifier: Apache-2.0

// Package filelock has advisory locks on files, which the kernel releases when the process that holds them ends, however it ends.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Lock is held until it is released, or until the last process that has its file open has finished.
type Lock struct{ file *os.File }

// Try takes the lock of a path. It returns nil when another process, or another part of this one, holds it.
func Try(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	// A lock of the open file is held by the processes that inherit the file, too, and can be asked for without being taken.
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) {
		return nil, file.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return &Lock{file: file}, nil
}

// Wait takes the lock of a path as soon as it is free, and calls waiting once if it is not free at first.
func Wait(ctx context.Context, path string, waiting func()) (*Lock, error) {
	for first := true; ; first = false {
		lock, err := Try(path)
		if lock != nil || err != nil {
			return lock, err
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// IsHeld reports whether a process holds the lock of a path.
func IsHeld(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open lock: %w", err)
	}
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock); err != nil {
		return false, errors.Join(fmt.Errorf("look at lock %s: %w", path, err), file.Close())
	}
	return lock.Type != unix.F_UNLCK, file.Close()
}

// File returns the open file, with which a child process holds the lock, too.
func (l *Lock) File() *os.File { return l.file }

// Release gives the lock up.
func (l *Lock) Release() error { return l.file.Close() }
