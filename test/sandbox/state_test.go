// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClaimStateFolder(t *testing.T) {
	l := layout(filepath.Join(t.TempDir(), "made", "on", "the", "way"))
	lock, err := l.claim()
	require.NoError(t, err)
	require.NoError(t, l.write(&Record{PID: 1, Nodes: 3}))
	require.NoError(t, os.WriteFile(l.logs(Etcd), []byte("old"), 0o600))

	_, err = l.claim()
	require.ErrorContains(t, err, "a sandbox runs in "+string(l)+" already")
	record, running, err := ReadRecord(string(l))
	require.NoError(t, err)
	require.True(t, running)
	require.Equal(t, 3, record.Nodes)

	require.NoError(t, lock.release())
	_, running, err = ReadRecord(string(l))
	require.NoError(t, err)
	require.False(t, running)
	lock, err = l.claim()
	require.NoError(t, err)
	require.NoFileExists(t, l.logs(Etcd), "the earlier sandbox's files are gone")
	require.NoFileExists(t, l.marker())
	require.NoError(t, lock.release())
}

func TestClaimLeavesOtherFoldersAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.tex")
	require.NoError(t, os.WriteFile(file, []byte("years of work"), 0o600))
	_, err := layout(dir).claim()
	require.ErrorContains(t, err, "holds files that are no sandbox's")
	require.FileExists(t, file)
	require.NoFileExists(t, layout(dir).lock())
}

func TestNoSandbox(t *testing.T) {
	dir := t.TempDir()
	_, _, err := ReadRecord(dir)
	require.ErrorIs(t, err, ErrNone)
	ran, err := Down(t.Context(), dir)
	require.NoError(t, err)
	require.False(t, ran)
	require.Empty(t, ComponentStatuses(dir))
}

func TestWaitLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first, err := tryLock(path)
	require.NoError(t, err)
	waited := make(chan struct{})
	got := make(chan error)
	go func() {
		second, err := waitLock(t.Context(), path, func() { close(waited) })
		if err == nil {
			err = second.release()
		}
		got <- err
	}()
	<-waited
	require.NoError(t, first.release())
	require.NoError(t, <-got)

	third, err := tryLock(path)
	require.NoError(t, err)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err = waitLock(ctx, path, func() { cancel(errors.New("no patience")) })
	require.ErrorContains(t, err, "no patience")
	require.NoError(t, third.release())
}

func TestPortsAreHeld(t *testing.T) {
	// Locks, not listening sockets, keep two sandboxes apart: nobody listens on these ports yet.
	a, b := &ports{}, &ports{}
	taken := map[int]bool{}
	for range 200 {
		for _, p := range []*ports{a, b} {
			port, err := p.take()
			require.NoError(t, err)
			require.False(t, taken[port], "port %d was given twice", port)
			require.True(t, port >= firstPort && port <= lastPort)
			taken[port] = true
		}
	}
	require.NoError(t, a.release())
	require.NoError(t, b.release())
}

func TestPortInUseIsNotFree(t *testing.T) {
	listener, err := net.Listen("tcp", loopback+":0")
	require.NoError(t, err)
	_, text, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	require.False(t, free(port))
	require.NoError(t, listener.Close())
	require.True(t, free(port))
}

func TestCertificates(t *testing.T) {
	ca, err := newAuthority()
	require.NoError(t, err)
	server, err := ca.server("server", []string{"kubernetes"}, net.IPv4(10, 0, 0, 1))
	require.NoError(t, err)
	pair, err := tls.X509KeyPair(server.cert, server.key)
	require.NoError(t, err)
	client, err := ca.client("somebody", "group-a", "group-b")
	require.NoError(t, err)
	clientPair, err := tls.X509KeyPair(client.cert, client.key)
	require.NoError(t, err)

	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(ca.pem))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		subject := r.TLS.PeerCertificates[0].Subject
		w.Header().Set("User", subject.CommonName)
		w.Header()["Groups"] = subject.Organization
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	s.StartTLS()
	defer s.Close()
	for _, name := range []string{"", "kubernetes", "localhost", "10.0.0.1"} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{
			RootCAs: pool, Certificates: []tls.Certificate{clientPair}, ServerName: name, MinVersion: tls.VersionTLS12,
		}}
		response, err := (&http.Client{Transport: transport}).Get(s.URL)
		require.NoError(t, err, "server name %q", name)
		require.NoError(t, response.Body.Close())
		require.Equal(t, "somebody", response.Header.Get("User"))
		require.Equal(t, []string{"group-a", "group-b"}, response.Header["Groups"])
		transport.CloseIdleConnections()
	}
}
