// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Ports are taken below the range from which Linux takes those of outgoing connections, or one of these could sit on a
// component's port before the component does.
const (
	firstPort = 20000
	lastPort  = 32767
)

// ports are free ones, each held by a lock file for as long as the sandbox lives, so that sandboxes started at the
// same time never choose the same.
type ports struct{ locks []*fileLock }

func (p *ports) take() (int, error) {
	dir := filepath.Join(os.TempDir(), "paddle-sandbox-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("make the folder of port locks: %w", err)
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1) //nolint:gosec // no secret depends on it
		lock, err := tryLock(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		if lock == nil {
			continue
		}
		if !free(port) {
			if err := lock.release(); err != nil {
				return 0, err
			}
			continue
		}
		p.locks = append(p.locks, lock)
		return port, nil
	}
	return 0, fmt.Errorf("no free port was found between %d and %d on 127.0.0.1", firstPort, lastPort)
}

// free reports whether the port is free on every address, because some components listen on all of them.
func free(port int) bool {
	listener, err := net.Listen("tcp", ":"+strconv.Itoa(port)) //nolint:gosec // closed at once
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

func (p *ports) release() error {
	var errs []error
	for _, lock := range p.locks {
		errs = append(errs, lock.release())
	}
	p.locks = nil
	return errors.Join(errs...)
}

// fileLock is an advisory lock that the kernel releases when its process ends, however it ends.
type fileLock struct{ file *os.File }

// tryLock returns nil when another process, or another part of this one, holds the lock.
func tryLock(path string) (*fileLock, error) {
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
	return &fileLock{file: file}, nil
}

// waitLock takes the lock as soon as it is free, and calls waiting once if it is not free at first.
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

// isLocked reports whether a process holds the lock.
func isLocked(path string) (bool, error) {
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

func (l *fileLock) release() error { return l.file.Close() }
