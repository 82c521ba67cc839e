// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// call is a request of a controller, as far as this package tells them apart.
type call struct {
	// words are the method and the resource, such as "PUT paddlejobs/status".
	words string
	// write is a change of a job's objects: events and the lease of an election are none.
	write bool
	watch bool
	// number counts the writes that come through a proxy, from 1.
	number int
}

// read understands the paths of the API: /api/v1/... or /apis/group/version/..., then namespaces/name/, then
// resource[/name[/subresource]].
func read(r *http.Request) *call {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return &call{words: r.Method + " " + r.URL.Path}
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	c := &call{words: r.Method + " " + parts[0], watch: r.URL.Query().Get("watch") != ""}
	if len(parts) > 2 {
		c.words += "/" + parts[2]
	}
	c.write = r.Method != http.MethodGet && parts[0] != "events" && parts[0] != "leases"
	return c
}

func TestReadCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		method, path string
		want         call
	}{
		{"GET", "/api/v1/namespaces/ml/pods?watch=true", call{words: "GET pods", watch: true}},
		{"GET", "/apis/scheduling.volcano.sh/v1beta1/queues?limit=500", call{words: "GET queues"}},
		{"POST", "/apis/batch.volcano.sh/v1alpha1/namespaces/ml/jobs?fieldManager=x", call{words: "POST jobs", write: true}},
		{"PUT", "/apis/batch.paddlepaddle.org/v1/namespaces/ml/paddlejobs/a/status", call{words: "PUT paddlejobs/status", write: true}},
		{"DELETE", "/api/v1/namespaces/ml/configmaps/a", call{words: "DELETE configmaps", write: true}},
		{"POST", "/api/v1/namespaces/ml/events", call{words: "POST events"}},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/ml/leases/a", call{words: "PUT leases"}},
		{"GET", "/version", call{words: "GET /version"}},
	} {
		require.Equal(t, &tc.want, read(httptest.NewRequest(tc.method, tc.path, http.NoBody)), tc.path)
	}
}
