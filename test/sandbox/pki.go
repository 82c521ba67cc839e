// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"time"

	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority is the sandbox's own certificate authority.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

// identity is a certificate and its key, in PEM.
type identity struct{ cert, key []byte }

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority's key: %w", err)
	}
	cert, err := certutil.NewSelfSignedCACert(certutil.Config{CommonName: "paddle-sandbox", NotBefore: time.Now().Add(-time.Hour)}, key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key, pem: certificatePEM(cert.Raw)}, nil
}

// client returns the identity of a user in the given groups.
func (a *authority) client(user string, groups ...string) (identity, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: user, Organization: groups}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
}

// server returns the identity of a server on loopback that is also called by the given names and addresses.
func (a *authority) server(name string, names []string, addresses ...net.IP) (identity, error) {
	return a.issue(&x509.Certificate{
		Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: append([]string{"localhost"}, names...), IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1)}, addresses...),
	})
}

// issue signs a certificate that is valid for as long as the authority's: nothing renews it.
func (a *authority) issue(template *x509.Certificate) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("make the key of %s: %w", template.Subject.CommonName, err)
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return identity{}, fmt.Errorf("make a serial number: %w", err)
	}
	template.NotBefore, template.NotAfter, template.KeyUsage = a.cert.NotBefore, a.cert.NotAfter, x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return identity{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return identity{}, fmt.Errorf("encode the key of %s: %w", template.Subject.CommonName, err)
	}
	return identity{cert: certificatePEM(der), key: keyPEM}, nil
}

func certificatePEM(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: certutil.CertificateBlockType, Bytes: der})
}

// writePKI writes what etcd, the API server, kube-controller-manager and the webhooks read from files.
func (l layout) writePKI(ca *authority) error {
	apiserver, err := ca.server("kube-apiserver", []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}, net.IPv4(10, 0, 0, 1))
	if err != nil {
		return err
	}
	webhooks, err := ca.server("volcano-webhooks", nil)
	if err != nil {
		return err
	}
	signer, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("make the key of service account tokens: %w", err)
	}
	for name, data := range map[string][]byte{
		"ca.crt": ca.pem, "service-accounts.key": signer,
		"kube-apiserver.crt": apiserver.cert, "kube-apiserver.key": apiserver.key,
		"volcano-webhooks.crt": webhooks.cert, "volcano-webhooks.key": webhooks.key,
	} {
		if err := os.WriteFile(l.pki(name), data, 0o600); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}
