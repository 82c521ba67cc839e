// SPDX-License-Identifier: Apache-2.0

// Package ports finds free ports of this machine and keeps them for one sandbox.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/filelock"
)

// Ports are taken below the range from which Linux takes those of outgoing connections, or one of these could sit on a
// component's port before the component does.
const (
	firstPort = 20000
	lastPort  = 32767
)

// Set is a set of ports that were free. Each is held by a lock file for as long as the sandbox lives, so that sandboxes started at
// the same time never choose the same. The zero value is empty.
type Set struct{ locks []*filelock.Lock }

// Take adds n ports, which are free on all addresses of this machine.
func (s *Set) Take(n int) ([]int, error) {
	numbers := make([]int, n)
	for i := range numbers {
		var err error
		if numbers[i], err = s.take(); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func (s *Set) take() (int, error) {
	dir := filepath.Join(os.TempDir(), "paddle-sandbox-ports-"+strconv.Itoa(os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, fmt.Errorf("make the folder of port locks: %w", err)
	}
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort+1) //nolint:gosec // no secret depends on it
		lock, err := filelock.Try(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		if lock == nil {
			continue
		}
		if !free(port) {
			if err := lock.Release(); err != nil {
				return 0, err
			}
			continue
		}
		s.locks = append(s.locks, lock)
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

// Release gives all ports up.
func (s *Set) Release() error {
	var errs []error
	for _, lock := range s.locks {
		errs = append(errs, lock.Release())
	}
	s.locks = nil
	return errors.Join(errs...)
}
