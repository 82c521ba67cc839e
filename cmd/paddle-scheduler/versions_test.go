// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/ktesting"
)

func TestStartWarnsOfVersionsThatAreNotSupported(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := `{"major": "1", "minor": "35", "gitVersion": "v1.35.2"}`
		if r.URL.Path == "/api/v1/pods" {
			answer = `{"kind": "PodList", "apiVersion": "v1", "items": [{"spec": {"containers": [{"image": "vc-controller-manager:v1.15.0"}]}}]}`
		}
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	require.NoError(t, err)
	logger := ktesting.NewLogger(t, ktesting.NewConfig(ktesting.BufferLogs(true)))
	logVersions(klog.NewContext(t.Context(), logger), client)
	sink, ok := logger.GetSink().(ktesting.Underlier)
	require.True(t, ok)
	text := sink.GetBuffer().String()
	require.Contains(t, text, `Warning: the version of Kubernetes is not supported version="v1.35.2" oldest="1.25" newest="1.34"`)
	require.Contains(t, text, `Warning: the version of Volcano is not supported version="v1.15.0" supported="1.14"`)
}
