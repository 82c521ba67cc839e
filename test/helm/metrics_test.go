// SPDX-License-Identifier: Apache-2.0

package helm_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

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

// requireGuardedMetrics checks that only an account that may get the URL /metrics reads the metrics, as that of the PodMonitor, and returns
// what reads them.
func requireGuardedMetrics(t *testing.T, address string) (read func() map[string]float64) {
	t.Helper()
	token := func(account string) string {
		t.Helper()
		got, err := cluster.Kube.CoreV1().ServiceAccounts(system).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
		require.NoError(t, err)
		return got.Status.Token
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // nobody can verify it
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
	reader := token(monitorsAccount(t))
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
