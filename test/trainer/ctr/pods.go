// SPDX-License-Identifier: Apache-2.0

package ctr

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// AccountDir is where a pod finds its service account.
const AccountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// API lists pods with the rights of a service account.
type API struct {
	base, token string
	client      *http.Client
}

// Pod is what the script reads of a pod.
type Pod struct {
	Labels    map[string]string
	Phase, IP string
}

// NewAPI finds the API server as pods do, with the account in a folder.
func NewAPI(env map[string]string, account string) (*API, error) {
	host, port := env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]
	if host == "" || port == "" {
		return nil, errors.New("no API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set")
	}
	token, err := os.ReadFile(filepath.Join(account, "token"))
	if err != nil {
		return nil, fmt.Errorf("no service account: %w", err)
	}
	authority, err := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("no service account: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s/ca.crt has no certificate", account)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return &API{base: "https://" + net.JoinHostPort(host, port), token: strings.TrimSpace(string(token)),
		client: &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// Close ends the connections.
func (a *API) Close() { a.client.CloseIdleConnections() }

// Pods returns the pods of a namespace that a selector finds. What is not allowed is a final error.
func (a *API) Pods(ctx context.Context, namespace, selector string) ([]Pod, error) {
	address := fmt.Sprintf("%s/api/v1/namespaces/%s/pods?labelSelector=%s", a.base, url.PathEscape(namespace), url.QueryEscape(selector))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, wire.FinalError{Err: err}
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		return nil, err
	case response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusUnauthorized:
		return nil, wire.FinalError{Err: fmt.Errorf("the service account may not list pods: %s: %s", response.Status, body)}
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("list pods: %s: %s", response.Status, body)
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Status struct {
				Phase string `json:"phase"`
				PodIP string `json:"podIP"`
			} `json:"status"`
		} `json:"items"`
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	pods := make([]Pod, 0, len(list.Items))
	for _, item := range list.Items {
		pods = append(pods, Pod{Labels: item.Metadata.Labels, Phase: item.Status.Phase, IP: item.Status.PodIP})
	}
	return pods, nil
}
