// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

func TestStore(t *testing.T) {
	network := &wire.Net{IP: "127.8.0.3", Deadline: 2 * time.Second}
	listener, err := network.Listen(t.Context(), "127.8.0.3:36000")
	require.NoError(t, err)
	go Serve(t.Context(), listener)
	client := NewClient(network, "the store", "127.8.0.3:36000")
	defer client.Close()

	require.NoError(t, client.Put(t.Context(), "nodes/a", "first"))
	require.NoError(t, client.Put(t.Context(), "nodes/a", "second"))
	require.NoError(t, client.Put(t.Context(), "nodes/b", ""))
	require.NoError(t, client.Put(t.Context(), "other", "x"))
	text, err := client.Get(t.Context(), "nodes/a")
	require.NoError(t, err)
	require.Equal(t, "second", text)
	entries, err := client.Folder(t.Context(), "nodes", func(map[string]string) error { return nil })
	require.NoError(t, err)
	require.Equal(t, map[string]string{"nodes/a": "second", "nodes/b": ""}, entries)

	_, err = client.Folder(t.Context(), "nodes", func(map[string]string) error { return wire.FinalError{Err: errors.New("too many")} })
	require.EqualError(t, err, "too many")
	_, err = client.Get(t.Context(), "nodes/c")
	require.ErrorContains(t, err, "nodes/c in the store at 127.8.0.3:36000: not within ")
	require.ErrorContains(t, err, "404 Not Found")

	for method, want := range map[string]int{http.MethodDelete: http.StatusOK, http.MethodPost: http.StatusMethodNotAllowed} {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://127.8.0.3:36000/nodes/b", strings.NewReader(""))
		require.NoError(t, err)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, want, response.StatusCode, method)
	}
	entries, err = client.Folder(t.Context(), "nodes", func(map[string]string) error { return nil })
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// What answers at the endpoint may be something else.
func TestNoStore(t *testing.T) {
	network := &wire.Net{IP: "127.8.0.4", Deadline: 500 * time.Millisecond}
	listener, err := network.Listen(t.Context(), "127.8.0.4:36000")
	require.NoError(t, err)
	other := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })}
	go func() { _ = other.Serve(listener) }()
	defer func() { _ = other.Close() }()
	client := NewClient(network, "the store", "127.8.0.4:36000")
	defer client.Close()
	_, err = client.Folder(t.Context(), "nodes", func(map[string]string) error { return nil })
	require.ErrorContains(t, err, "the store at 127.8.0.4:36000 does not answer as a store")
}
