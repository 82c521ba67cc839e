// SPDX-License-Identifier: Apache-2.0

package pki_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/pki"
)

// verified returns the certificate of an identity, whose key fits and which the authority has signed for the usage.
func verified(t *testing.T, a *pki.Authority, id pki.Identity, usage x509.ExtKeyUsage) *x509.Certificate {
	t.Helper()
	pair, err := tls.X509KeyPair(id.Cert, id.Key)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(a.PEM))
	_, err = pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{usage}})
	require.NoError(t, err)
	return pair.Leaf
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	a, err := pki.NewAuthority()
	require.NoError(t, err)
	client, err := a.Client("user", "group", "other-group")
	require.NoError(t, err)
	subject := verified(t, a, client, x509.ExtKeyUsageClientAuth).Subject
	require.Equal(t, "user", subject.CommonName)
	require.ElementsMatch(t, []string{"group", "other-group"}, subject.Organization)

	server, err := a.Server("server", []string{"server.example"}, net.IPv4(10, 0, 0, 1))
	require.NoError(t, err)
	certificate := verified(t, a, server, x509.ExtKeyUsageServerAuth)
	for _, host := range []string{"localhost", "127.0.0.1", "server.example", "10.0.0.1"} {
		require.NoError(t, certificate.VerifyHostname(host), host)
	}
	require.Error(t, certificate.VerifyHostname("10.0.0.2"))
}
