// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
)

// Listen listens at an endpoint of the process's own, and returns an error where its host leads to another address: then
// nobody would find it.
func (n *Net) Listen(ctx context.Context, endpoint string) (net.Listener, error) {
	n.mu.Lock()
	listener := n.held[endpoint]
	delete(n.held, endpoint)
	n.mu.Unlock()
	host, port, err := net.SplitHostPort(endpoint)
	if err != nil {
		return nil, err
	}
	if listener == nil {
		// A gang that restarts may find its predecessor's port still in use.
		err = n.Await(ctx, "listening at "+endpoint, func(ctx context.Context) (err error) {
			var config net.ListenConfig
			listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(n.IP, port))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if n.IP == "" {
		return listener, nil
	}
	err = n.Await(ctx, "the own endpoint "+endpoint, func(ctx context.Context) error {
		found, err := n.lookup(ctx, host)
		if err == nil && !slices.Contains(found, n.IP) {
			err = fmt.Errorf("%s leads to %v, and this process is at %s", host, found, n.IP)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// Free chooses a free port, from low to high or any where high is 0, keeps it for a later Listen, and returns host with it.
func (n *Net) Free(ctx context.Context, host string, low, high int) (endpoint string, err error) {
	if high == 0 {
		low = 0
	}
	var config net.ListenConfig
	for port := low; port <= high; port++ {
		var listener net.Listener
		if listener, err = config.Listen(ctx, "tcp", net.JoinHostPort(n.IP, strconv.Itoa(port))); err != nil {
			continue
		}
		_, chosen, _ := net.SplitHostPort(listener.Addr().String())
		endpoint = net.JoinHostPort(host, chosen)
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.held == nil {
			n.held = map[string]net.Listener{}
		}
		n.held[endpoint] = listener
		return endpoint, nil
	}
	return "", fmt.Errorf("no port from %d to %d is free at %s: %w", low, high, n.IP, err)
}

// Close lets go of ports that were chosen and never used.
func (n *Net) Close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, listener := range n.held {
		_ = listener.Close()
	}
	n.held = nil
}
