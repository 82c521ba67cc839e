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

// api lists pods with the rights of a service account.
type api struct {
	base, token string
	client      *http.Client
}

// podList is what the script reads of pods.
type podList struct {
	Items []struct {
		Metadata struct{ Labels map[string]string }
		Status   struct{ Phase, PodIP string }
	}
}

// newAPI finds the API server as pods do, with the account in a folder.
func newAPI(env map[string]string, account string) (*api, error) {
	host, port := env["KUBERNETES_SERVICE_HOST"], env["KUBERNETES_SERVICE_PORT"]
	if host == "" || port == "" {
		return nil, errors.New("no API server: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not both set")
	}
	token, err := os.ReadFile(filepath.Join(account, "token"))
	authority, err2 := os.ReadFile(filepath.Join(account, "ca.crt"))
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("no service account: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return &api{"https://" + net.JoinHostPort(host, port), strings.TrimSpace(string(token)), &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// pods returns the pods of a namespace that a selector finds. Missing rights are a final error.
func (a *api) pods(ctx context.Context, namespace, selector string) (list podList, err error) {
	address := fmt.Sprintf("%s/api/v1/namespaces/%s/pods?labelSelector=%s", a.base, url.PathEscape(namespace), url.QueryEscape(selector))
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return list, wire.FinalError{Err: err}
	}
	request.Header.Set("Authorization", "Bearer "+a.token)
	response, err := a.client.Do(request)
	if err != nil {
		return list, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, &list)
		return list, err
	}
	err = errors.Join(err, fmt.Errorf("list pods: %s: %s", response.Status, body))
	if response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusUnauthorized {
		err = wire.FinalError{Err: fmt.Errorf("the service account may not %w", err)}
	}
	return list, err
}
