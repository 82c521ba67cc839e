// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Net is the network as one process sees it.
type Net struct {
	// IP is the process's own address, empty where it does not know it and listens at all of its addresses.
	IP string
	// Resolve returns the addresses that a host name leads to. IPs are not asked for.
	Resolve func(ctx context.Context, host string) ([]string, error)
	// Deadline is how long the process waits for any one thing.
	Deadline time.Duration

	mu   sync.Mutex
	held map[string]net.Listener
}

// pause lies between two attempts.
const pause = 100 * time.Millisecond

// FinalError is an error that no further attempt can mend.
type FinalError struct{ Err error }

func (f FinalError) Error() string { return f.Err.Error() }
func (f FinalError) Unwrap() error { return f.Err }

// Await tries until it succeeds, an error is FinalError, or the deadline is over; the error then says what was waited for.
func (n *Net) Await(ctx context.Context, what string, try func(context.Context) error) error {
	begin := time.Now()
	limited, cancel := context.WithTimeout(ctx, n.Deadline)
	defer cancel()
	var last error
	for {
		err := try(limited)
		if err == nil || errors.As(err, &FinalError{}) {
			return err
		}
		if limited.Err() != nil && last != nil {
			err = last // the attempt that the deadline cut off has nothing to say
		}
		last = err
		if Sleep(limited, pause) != nil {
			if ctx.Err() != nil {
				return fmt.Errorf("%s: %w", what, context.Cause(ctx))
			}
			return fmt.Errorf("%s: not within %s: %w", what, time.Since(begin).Round(time.Millisecond), err)
		}
	}
}

// Sleep waits, and returns an error as soon as the context is done.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// lookup returns the addresses of a host, which may be an IP.
func (n *Net) lookup(ctx context.Context, host string) ([]string, error) {
	if net.ParseIP(host) != nil {
		return []string{host}, nil
	}
	found, err := n.Resolve(ctx, host)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("%s leads nowhere", host)
	}
	return found, err
}

// Dial connects to an endpoint, which it looks up anew at each attempt.
func (n *Net) Dial(ctx context.Context, what, endpoint string) (net.Conn, error) {
	var conn net.Conn
	err := n.Await(ctx, fmt.Sprintf("%s at %s", what, endpoint), func(ctx context.Context) (err error) {
		conn, err = n.DialOnce(ctx, endpoint)
		return err
	})
	return conn, err
}

// DialOnce connects to an endpoint without waiting for it.
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
