// SPDX-License-Identifier: Apache-2.0

package faults_test

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// proxy is between one controller and the API server.
type proxy struct {
	server *httptest.Server
	// api answers as the API server does.
	api http.Handler

	mu     sync.Mutex
	inject injector
	// writes are those so far, as method and resource.
	writes []string
	// cut ends all watches.
	cut     context.CancelFunc
	watches context.Context //nolint:containedctx // it is that of many requests
}

// injector answers a request instead of the API server, or has the API server answer it.
type injector func(c *call, w http.ResponseWriter, r *http.Request, api http.Handler)

// undisturbed has the API server answer.
func undisturbed(_ *call, w http.ResponseWriter, r *http.Request, api http.Handler) {
	api.ServeHTTP(w, r)
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	admin := cluster.RESTConfig()
	transport, err := rest.TransportFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: admin.CAData}})
	require.NoError(t, err)
	target, err := url.Parse(admin.Host)
	require.NoError(t, err)
	silent := log.New(io.Discard, "", 0)
	p := &proxy{inject: undisturbed, api: &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      silent,
		// As if there were no proxy.
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}}
	p.watches, p.cut = context.WithCancel(context.Background())
	p.server = httptest.NewUnstartedServer(p)
	p.server.EnableHTTP2, p.server.Config.ErrorLog = true, silent
	p.server.StartTLS()
	t.Cleanup(func() {
		p.cutWatches()
		p.server.CloseClientConnections()
		p.server.Close()
	})
	return p
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := read(r)
	p.mu.Lock()
	if c.write {
		p.writes = append(p.writes, c.words)
		c.number = len(p.writes)
	}
	inject, watches := p.inject, p.watches
	p.mu.Unlock()
	if c.watch {
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		defer context.AfterFunc(watches, stop)()
		r = r.WithContext(ctx)
	}
	inject(c, w, r, p.api)
}

// cutWatches breaks every watch that is open.
func (p *proxy) cutWatches() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut()
	p.watches, p.cut = context.WithCancel(context.Background())
}

// from replaces what answers requests from now on.
func (p *proxy) from(inject injector) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inject = inject
}

// written returns the writes so far, as method and resource.
func (p *proxy) written() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.writes...)
}

// kubeconfig returns the path of a kubeconfig with the controller's permissions that leads through the proxy.
func (p *proxy) kubeconfig(t *testing.T) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(cluster.ComponentKubeconfig(sandbox.Controller))
	require.NoError(t, err)
	for _, c := range config.Clusters {
		c.Server = p.server.URL
		c.CertificateAuthorityData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}

// call is a request of a controller, as far as this package distinguishes them.
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
