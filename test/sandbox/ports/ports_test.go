// SPDX-License-Identifier: Apache-2.0

package ports

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPortsAreHeld(t *testing.T) {
	// Locks, not listening sockets, separate two sandboxes: no process listens on these ports yet.
	a, b := &Set{}, &Set{}
	taken := map[int]bool{}
	for range 200 {
		for _, p := range []*Set{a, b} {
			numbers, err := p.Take(1)
			require.NoError(t, err)
			port := numbers[0]
			require.False(t, taken[port], "port %d was given twice", port)
			require.True(t, port >= firstPort && port <= lastPort)
			taken[port] = true
		}
	}
	require.NoError(t, a.Release())
	require.NoError(t, b.Release())
}

func TestPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, text, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	require.False(t, free(port))
	require.NoError(t, listener.Close())
	require.True(t, free(port))
}
