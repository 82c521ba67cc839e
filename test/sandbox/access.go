// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/ptr"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox/pki"
)

// kwokUser is kwok's name, to which kwokPermissions are bound.
const kwokUser = "paddle-sandbox:kwok"

// tokenLife outlives any sandbox; nothing renews the tokens.
const tokenLife = 365 * 24 * time.Hour

// credentials are what one user brings along.
type credentials struct {
	identity pki.Identity
	token    string
}

// writeKubeconfig writes a kubeconfig that plain kubectl and every component reads.
func writeKubeconfig(path, server string, ca []byte, namespace string, c credentials) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["sandbox"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	config.AuthInfos["sandbox"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: c.identity.Cert, ClientKeyData: c.identity.Key, Token: c.token,
	}
	config.Contexts["sandbox"] = &clientcmdapi.Context{Cluster: "sandbox", AuthInfo: "sandbox", Namespace: namespace}
	config.CurrentContext = "sandbox"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

// adminConfig returns the administrator's client configuration, without a rate limit.
func adminConfig(server string, ca []byte, admin pki.Identity) *rest.Config {
	return &rest.Config{
		Host: server, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: ca, CertData: admin.Cert, KeyData: admin.Key},
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

// writePKI writes what etcd, the API server, kube-controller-manager and the webhooks read from files.
func (l layout) writePKI(ca *pki.Authority) error {
	apiserver, err := ca.Server("kube-apiserver", []string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}, net.IPv4(10, 0, 0, 1))
	if err != nil {
		return err
	}
	webhooks, err := ca.Server("volcano-webhooks", nil)
	if err != nil {
		return err
	}
	signer, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return fmt.Errorf("make the key of service account tokens: %w", err)
	}
	for name, data := range map[string][]byte{
		"ca.crt": ca.PEM, "service-accounts.key": signer,
		"kube-apiserver.crt": apiserver.Cert, "kube-apiserver.key": apiserver.Key,
		"volcano-webhooks.crt": webhooks.Cert, "volcano-webhooks.key": webhooks.Key,
	} {
		if err := os.WriteFile(l.pki(name), data, 0o600); err != nil {
			return fmt.Errorf("write certificates: %w", err)
		}
	}
	return nil
}
