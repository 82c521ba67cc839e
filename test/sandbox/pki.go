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
)

// certificateLife is long enough for any sandbox; nothing renews the certificates.
const certificateLife = 10 * 365 * 24 * time.Hour

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
	template, err := certificateTemplate(pkix.Name{CommonName: "paddle-sandbox"})
	if err != nil {
		return nil, err
	}
	template.IsCA, template.BasicConstraintsValid = true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the certificate authority: %w", err)
	}
	return &authority{cert: cert, key: key, pem: pemBlock("CERTIFICATE", der)}, nil
}

// client returns the identity of a user in the given groups.
func (a *authority) client(user string, groups ...string) (identity, error) {
	template, err := certificateTemplate(pkix.Name{CommonName: user, Organization: groups})
	if err != nil {
		return identity{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return a.issue(template)
}

// server returns the identity of a server on loopback that is also called by the given names and addresses.
func (a *authority) server(name string, names []string, addresses ...net.IP) (identity, error) {
	template, err := certificateTemplate(pkix.Name{CommonName: name})
	if err != nil {
		return identity{}, err
	}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = append([]string{"localhost"}, names...)
	template.IPAddresses = append([]net.IP{net.IPv4(127, 0, 0, 1)}, addresses...)
	return a.issue(template)
}

func (a *authority) issue(template *x509.Certificate) (identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, fmt.Errorf("make the key of %s: %w", template.Subject.CommonName, err)
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return identity{}, fmt.Errorf("sign the certificate of %s: %w", template.Subject.CommonName, err)
	}
	keyPEM, err := encodeKey(key)
	if err != nil {
		return identity{}, err
	}
	return identity{cert: pemBlock("CERTIFICATE", der), key: keyPEM}, nil
}

func certificateTemplate(subject pkix.Name) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make a serial number: %w", err)
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
	}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	return pemBlock("EC PRIVATE KEY", der), nil
}

func pemBlock(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
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
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make the key of service account tokens: %w", err)
	}
	signerPEM, err := encodeKey(signer)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{
		"ca.crt": ca.pem, "service-accounts.key": signerPEM,
		"kube-apiserver.crt": apiserver.cert, "kube-apiserver.key": apiserver.key,
		"volcano-webhooks.crt": webhooks.cert, "volcano-webhooks.key": webhooks.key,
	} {
		if err := os.WriteFile(l.pki(name), data, 0o600); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}
