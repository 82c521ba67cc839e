// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/live"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// kubeconfig returns a file with the permissions of a service account and no others.
func kubeconfig(t *testing.T, namespace, account string) string {
	t.Helper()
	token, err := cluster.Kube.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	config, err := clientcmd.LoadFromFile(cluster.Kubeconfig())
	require.NoError(t, err)
	for _, user := range config.AuthInfos {
		user.ClientCertificateData, user.ClientKeyData, user.Token = nil, nil, token.Status.Token
	}
	file := filepath.Join(t.TempDir(), account)
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	return file
}

func deployed(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	d, err := cluster.Kube.AppsV1().Deployments(namespace).Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	return d
}

// freePort returns an address of this machine on which no process listens.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// startController runs the controller as its Deployment in the cluster says, with the permissions of its account there, and returns
// where it serves metrics.
func startController(t *testing.T, name string) (metrics string) {
	t.Helper()
	metrics = freePort(t)
	args := deployed(t, system, "paddle-controller-manager").Spec.Template.Spec.Containers[0].Args
	args = append(args, "--kubeconfig="+kubeconfig(t, system, "paddle-controller-manager"), "--metrics-address="+metrics,
		"--http-address="+cluster.Address(sandbox.Controller))
	require.NoError(t, cluster.StartSecond(sandbox.Controller, name, args...))
	cluster.Await(t, "the controller to be ready", func(ctx context.Context) error {
		_, err := get(ctx, http.DefaultClient, "http://"+cluster.Address(sandbox.Controller)+"/readyz", "")
		return err
	})
	return metrics
}

// startScheduler runs a scheduler as its Deployment in the cluster says, with the permissions of its account there, and returns where it
// serves metrics.
func startScheduler(t *testing.T, namespace, name string) (metrics string) {
	t.Helper()
	const deployment = "paddle-scheduler"
	metrics = freePort(t)
	config, err := cluster.Kube.CoreV1().ConfigMaps(namespace).Get(t.Context(), deployment+"-configmap", metav1.GetOptions{})
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "volcano-scheduler.conf")
	require.NoError(t, os.WriteFile(file, []byte(config.Data["volcano-scheduler.conf"]), 0o600))
	args := deployed(t, namespace, deployment).Spec.Template.Spec.Containers[0].Args
	args = append(args, "--kubeconfig="+kubeconfig(t, namespace, deployment), "--scheduler-conf="+file,
		"--healthz-address="+freePort(t), "--listen-address="+metrics, "--cache-dump-dir="+t.TempDir())
	require.NoError(t, cluster.StartSecond(sandbox.Scheduler, name, args...))
	return metrics
}

// get asks for a URL and returns what is answered with 200.
func get(ctx context.Context, client *http.Client, url, token string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%d: %s", response.StatusCode, body)
	}
	return string(body), err
}

// requireGuardedMetrics checks that only an account that may get the URL /metrics reads the metrics, as Prometheus' own, and returns what
// reads them.
func requireGuardedMetrics(t *testing.T, address string) (read func() map[string]float64) {
	t.Helper()
	token := func(account string) string {
		t.Helper()
		got, err := cluster.Kube.CoreV1().ServiceAccounts(system).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		require.NoError(t, err)
		return got.Status.Token
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // the certificate is self-signed
	t.Cleanup(client.CloseIdleConnections)
	url := "https://" + address + "/metrics"
	cluster.Await(t, "metrics to be served", func(ctx context.Context) error {
		if _, err := get(ctx, client, url, ""); err == nil || !strings.HasPrefix(err.Error(), "401") {
			return fmt.Errorf("without a token the answer is: %w", err)
		}
		return nil
	})
	for bearer, code := range map[string]string{"no token": "401", token("default"): "403"} {
		_, err := get(t.Context(), client, url, bearer)
		require.ErrorContains(t, err, code)
	}
	reader := token(prometheus(t))
	body, err := get(t.Context(), client, url, reader)
	require.NoError(t, err)
	require.Contains(t, body, "paddlejob_controller_jobs")
	// What probes ask is open, and has no metrics.
	_, err = get(t.Context(), http.DefaultClient, "http://"+cluster.Address("controller")+"/metrics", "")
	require.ErrorContains(t, err, "404")
	return func() map[string]float64 {
		t.Helper()
		body, err := get(t.Context(), client, url, reader)
		require.NoError(t, err)
		values, err := live.ParseMetrics(strings.NewReader(body))
		require.NoError(t, err)
		return values
	}
}

// monitored switches on all that is off by default and needs no other program than the API server.
const monitored = "serviceMonitor.enabled=true,serviceMonitor.labels.release=prometheus,prometheusRule.enabled=true,dashboards.enabled=true," +
	"networkPolicy.enabled=true,networkPolicy.from[0].namespaceSelector.matchLabels.name=monitoring"

// prometheus creates the account of a Prometheus, which may get the URL /metrics as kube-prometheus allows its own.
func prometheus(t *testing.T) string {
	t.Helper()
	const name = "prometheus-k8s"
	meta := metav1.ObjectMeta{Name: name, Namespace: system}
	_, err := cluster.Kube.CoreV1().ServiceAccounts(system).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = cluster.Kube.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = cluster.Kube.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: system, Name: name}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	return name
}

// readOpen reads metrics that are for anyone.
func readOpen(t *testing.T, address string) map[string]float64 {
	t.Helper()
	var values map[string]float64
	cluster.Await(t, "metrics at "+address, func(ctx context.Context) error {
		body, err := get(ctx, http.DefaultClient, "http://"+address+"/metrics", "")
		if err == nil {
			values, err = live.ParseMetrics(strings.NewReader(body))
		}
		return err
	})
	return values
}
