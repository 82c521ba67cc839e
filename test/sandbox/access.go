// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
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

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/ptr"
)

// kwokUser is kwok's name, to which kwokPermissions are bound.
const kwokUser = "paddle-sandbox:kwok"

// tokenLife outlives any sandbox; nothing renews the tokens.
const tokenLife = 365 * 24 * time.Hour

// credentials are what one user brings along.
type credentials struct {
	identity identity
	token    string
}

// writeKubeconfig writes a kubeconfig that plain kubectl and every component reads.
func writeKubeconfig(path, server string, ca []byte, namespace string, c credentials) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["sandbox"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["sandbox"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.identity.cert, ClientKeyData: c.identity.key, Token: c.token,
	}
	config.Contexts["sandbox"] = &clientcmdapi.Context{Cluster: "sandbox", AuthInfo: "sandbox", Namespace: namespace}
	config.CurrentContext = "sandbox"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// adminConfig returns the administrator's client configuration, without a rate limit.
func adminConfig(server string, ca []byte, admin identity) *rest.Config {
	return &rest.Config{
		Host: server, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: admin.cert, KeyData: admin.key},
	}
}

// serviceAccountToken gets a token for an account that a manifest has made.
func (c *cluster) serviceAccountToken(ctx context.Context, namespace, account string) (string, error) {
	request := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLife.Seconds()))},
	}
	got, err := c.kube.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token for service account %s/%s, which its Deployment names: %w", namespace, account, err)
	}
	return got.Status.Token, nil
}

// kwokPermissions let kwok simulate the kubelet of every node, and no more.
func kwokPermissions() []*unstructured.Unstructured {
	rule := func(group string, resources []string, verbs ...string) map[string]any {
		return map[string]any{"apiGroups": []any{group}, "resources": anys(resources), "verbs": anys(verbs)}
	}
	return []*unstructured.Unstructured{
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": kwokUser},
			"rules": []any{
				rule("", []string{"nodes", "pods"}, "get", "list", "watch"),
				rule("", []string{"nodes/status", "pods/status"}, "patch"),
				rule("", []string{"pods"}, "delete"),
				rule("", []string{"events"}, "create", "patch"),
				rule("coordination.k8s.io", []string{"leases"}, "get", "list", "watch", "create", "update", "patch"),
			},
		}},
		{Object: map[string]any{
			"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": kwokUser},
			"roleRef":  map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": kwokUser},
			"subjects": []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": kwokUser}},
		}},
	}
}

func anys(list []string) []any {
	out := make([]any, 0, len(list))
	for _, item := range list {
		out = append(out, item)
	}
	return out
}

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
