// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// kubeconfig is a file with the rights of a service account and no others.
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

// freePort is an address of this machine that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, listener.Close()) }()
	return listener.Addr().String()
}

// startController runs the controller as its Deployment in the cluster says, with the rights of its account there, and returns
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

// startScheduler runs a scheduler as its Deployment in the cluster says, with the rights of its account there, and returns where it
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
