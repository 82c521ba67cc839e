// SPDX-License-Identifier: Apache-2.0

// Package wire finds endpoints and connects to them. It retries, because a name resolves only about a second after its
// container has started.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"
)

// Net is the network of one process.
type Net struct {
	// IP is the process's own address. Without it the process listens at all of its addresses.
	IP string
	// Resolve returns the addresses of a host name.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// Deadline is how long the process waits for any one thing.
	Deadline time.Duration
}

// pause is the time between two attempts.
const pause = 100 * time.Millisecond

// FinalError is an error after which Await does not try again.
type FinalError struct{ Err error }

func (f FinalError) Error() string { return f.Err.Error() }
func (f FinalError) Unwrap() error { return f.Err }

// Await tries until it succeeds, an error is a FinalError, or the deadline is over.
func (n *Net) Await(ctx context.Context, what string, try func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, n.Deadline)
	defer cancel()
	var last error
	for {
		err := try(limited)
		if err == nil || errors.As(err, &FinalError{}) {
			return err
		}
		if limited.Err() == nil || last == nil { // an attempt that the deadline ended has no other reason
			last = err
		}
		if Sleep(limited, pause) != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: %w", what, context.Cause(ctx))
			}
			return fmt.Errorf("%s: not within %s: %w", what, n.Deadline, last)
		}
	}
}

// Sleep waits, and returns an error as soon as the context is done.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

func (n *Net) lookup(ctx context.Context, host string) ([]string, error) {
	if net.ParseIP(host) != nil {
		return []string{host}, nil
	}
	found, err := n.Resolve(ctx, host)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s has no address", host)
	}
	return found, err
}

// DialOnce resolves an endpoint and connects to it.
func (n *Net) DialOnce(ctx context.Context, endpoint string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return nil, FinalError{err}
	}
	found, err := n.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 3 * time.Second}
	return dialer.DialContext(ctx, "tcp", net.JoinHostPort(found[0], port))
}

// Listen listens at one of the process's own endpoints. The endpoint's host must resolve to the process's address.
func (n *Net) Listen(ctx context.Context, endpoint string) (listener net.Listener, err error) {
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return nil, err
	}
	// The port may still be in use by the process that ran before a restart.
	err = n.Await(ctx, "listening at "+endpoint, func(ctx context.Context) (err error) {
		var config net.ListenConfig
		listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(n.IP, port))
		return err
	})
	if err != nil || n.IP == "" {
		return listener, err
	}
	err = n.Await(ctx, "the own endpoint "+endpoint, func(ctx context.Context) error {
		found, err := n.lookup(ctx, host)
		if err == nil && !slices.Contains(found, n.IP) {
			err = fmt.Errorf("%s resolves to %v, and this process is at %s", host, found, n.IP)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Free returns an endpoint of the host whose port is free: from low to high, or any where high is 0.
func (n *Net) Free(ctx context.Context, host string, low, high int) (endpoint string, err error) {
	if high == 0 {
		low = 0
	}
	for port := low; port <= high; port++ {
		var config net.ListenConfig
		var listener net.Listener
		if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(n.IP, strconv.Itoa(port))); err != nil {
			continue
		}
		_, chosen, _ := net.SplitHostPort(listener.Addr().String())
		return net.JoinHostPort(host, chosen), listener.Close()
	}
	return "", fmt.Errorf("no port from %d to %d is free at %s: %w", low, high, n.IP, err)
}
