// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/trainer/wire"
)

// What a healthy etcd never answers; the gangs of package trainer talk to a real one.
func TestEtcdInTrouble(t *testing.T) {
	status, body, calls := http.StatusOK, "", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	e := newEtcd(&wire.Net{Deadline: 350 * time.Millisecond}, strings.TrimPrefix(server.URL, "http://"))
	defer e.close()

	body = `{"result":{"ID":"7","TTL":"5"}}`
	require.NoError(t, e.keep(t.Context(), 7))
	body = `{"result":{"ID":"7"}}`
	require.ErrorContains(t, e.keep(t.Context(), 7), "has run out", "etcd says nothing of the time that is left where none is")

	status, body, calls = http.StatusBadRequest, "no such lease", 0
	require.ErrorContains(t, e.put(t.Context(), "k", "v", 7), "kv/put: 400 Bad Request: no such lease")
	require.Equal(t, 1, calls, "what is refused is not tried again")
	status, body, calls = http.StatusServiceUnavailable, "no leader", 0
	require.ErrorContains(t, e.put(t.Context(), "k", "v", 7), "503 Service Unavailable: no leader")
	require.Greater(t, calls, 1, "what may pass is")
	status, body = http.StatusOK, "<html>"
	_, err := e.list(t.Context(), "/paddle/job/")
	require.ErrorContains(t, err, "kv/range: invalid character")
	status, body = http.StatusOK, `{"kvs":[{"key":"L3BhZGRsZS9qb2IvcGxhbg==","value":"e30x","mod_revision":"3"}]}`
	_, err = read(t.Context(), e, "/paddle/job/")
	require.ErrorContains(t, err, "etcd has /paddle/job/plan={}1")
}
