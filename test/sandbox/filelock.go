// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// fileLock is an advisory lock that the kernel releases when its process ends, however it ends.
type fileLock struct{ file *os.File }

// tryLock returns nil when another process, or another part of this one, holds the lock.
func tryLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, file.Close()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
	return &fileLock{file: file}, nil
}

// waitLock takes the lock as soon as it is free, and calls waiting once if it is not so at first.
func waitLock(ctx context.Context, path string, waiting func()) (*fileLock, error) {
	for first := true; ; first = false {
		lock, err := tryLock(path)
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

// isLocked reports whether somebody holds the lock.
func isLocked(path string) (bool, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	lock, err := tryLock(path)
	if err != nil {
		return false, err
	}
	if lock == nil {
		return true, nil
	}
	return false, lock.release()
}

func (l *fileLock) release() error { return l.file.Close() }
