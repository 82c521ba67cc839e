// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

func wrote(verb, resource, sub, name, body string) *auditv1.Event {
	uri := "/" + resource
	if verb != "create" || sub != "" {
		uri += "/" + name
	}
	return &auditv1.Event{
		Verb: verb, RequestURI: strings.TrimSuffix(uri+"/"+sub, "/") + "?timeout=1s",
		ObjectRef:     &auditv1.ObjectReference{Resource: resource, Subresource: sub, Name: name},
		RequestObject: &runtime.Unknown{Raw: []byte(body)},
	}
}

// seen is one gang of two pods: let in, bound, told, and running.
func seen() []*auditv1.Event {
	group := `{"metadata":{"name":"g1","uid":"old","resourceVersion":"7"},"status":{"phase":"%s"}}`
	return []*auditv1.Event{
		wrote("update", "podgroups", "", "g1", fmt.Sprintf(group, "Inqueue")),
		wrote("create", "pods", "binding", "g1-0", `{"metadata":{"name":"g1-0","uid":"old"},"target":{"name":"n1"}}`),
		wrote("create", "events", "", "g1-0.1", `{"metadata":{"name":"g1-0.1"},"involvedObject":{"kind":"Pod","name":"g1-0","uid":"old"}}`),
		wrote("create", "pods", "binding", "g1-1", `{"metadata":{"name":"g1-1"},"target":{"name":"n2"}}`),
		wrote("patch", "events", "", "g1-0.1", `{"count":2}`),
		wrote("update", "podgroups", "", "g1", fmt.Sprintf(group, "Running")),
		wrote("create", "events", "", "g1.1", `{"metadata":{"name":"g1.1"},"involvedObject":{"kind":"PodGroup","name":"g1"}}`),
	}
}

func TestChainsAreByObject(t *testing.T) {
	t.Parallel()
	p, err := Of(seen())
	require.NoError(t, err)
	var got [][]string
	for _, c := range p.chains {
		var chain []string
		for _, w := range c {
			chain = append(chain, w.what)
		}
		got = append(got, chain)
	}
	require.Equal(t, [][]string{
		{"update podgroups", "update podgroups", "create events"},
		{"create pods/binding", "create events", "patch events"},
		{"create pods/binding"},
	}, got)
	require.Equal(t, []chain{p.chains[1][:1], p.chains[2]}, p.Bindings().chains)

	_, err = Of([]*auditv1.Event{{Verb: "create", ObjectRef: &auditv1.ObjectReference{Resource: "pods"}}})
	require.ErrorContains(t, err, "no body")
}

func clientOf(t *testing.T, s *httptest.Server) rest.Interface {
	t.Helper()
	t.Cleanup(s.Close)
	base, err := url.Parse(s.URL)
	require.NoError(t, err)
	version := schema.GroupVersion{Version: "v1"}
	client, err := rest.NewRESTClient(base, "", rest.ClientContentConfig{
		GroupVersion: version, Negotiator: runtime.NewClientNegotiator(scheme.Codecs, version),
	}, nil, nil)
	require.NoError(t, err)
	return client
}

// server answers updates with the version after the one that they had, and keeps what was asked.
func server(t *testing.T) (client rest.Interface, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		var body struct{ Metadata metav1.ObjectMeta }
		_ = json.Unmarshal(data, &body)
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, fmt.Sprintf("%s %s %s uid=%s version=%s", r.Method, r.URL, r.Header.Get("Content-Type"), body.Metadata.UID, body.Metadata.ResourceVersion))
		_, _ = fmt.Fprintf(w, `{"metadata":{"resourceVersion":"%s1"}}`, body.Metadata.ResourceVersion)
	}))
	client = clientOf(t, s)
	return client, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return lines
	}
}

func TestPlayIsOfTheObjectsThatAreThere(t *testing.T) {
	t.Parallel()
	plan, err := Of(seen())
	require.NoError(t, err)
	_, err = plan.Ready(Known{})
	require.ErrorContains(t, err, "update podgroups of podgroups/g1: it is not there")
	play, err := plan.Ready(Known{
		"podgroups/g1": {UID: "new", ResourceVersion: "4"}, "pods/g1-0": {UID: "p0"}, "pods/g1-1": {UID: "p1"},
	})
	require.NoError(t, err)
	client, asked := server(t)
	require.NoError(t, play.Run(t.Context(), client, 1))
	require.Equal(t, []string{
		"PUT /podgroups/g1 application/json uid=new version=4",
		"PUT /podgroups/g1 application/json uid=new version=41",
		"POST /events application/json uid= version=",
		"POST /pods/g1-0/binding application/json uid=p0 version=",
		"POST /events application/json uid= version=",
		"PATCH /events/g1-0.1 application/strategic-merge-patch+json uid= version=",
		"POST /pods/g1-1/binding application/json uid=p1 version=",
	}, asked())

	require.NoError(t, play.Run(t.Context(), client, 8))
	got := asked()
	require.Len(t, got, 14)
	slices.Sort(got[:7])
	slices.Sort(got[7:])
	require.Equal(t, got[:7], got[7:], "side by side the same is written")
}

func TestPlayStopsAtAnError(t *testing.T) {
	t.Parallel()
	_, err := write{what: "delete pods"}.ready(nil)
	require.ErrorContains(t, err, "no scheduler was expected to delete")
	plan, err := Of(seen()[1:2])
	require.NoError(t, err)
	play, err := plan.Ready(Known{"pods/g1-0": {}})
	require.NoError(t, err)
	s := httptest.NewServer(http.NotFoundHandler())
	require.ErrorContains(t, play.Run(t.Context(), clientOf(t, s), 2), "create pods/binding of pods/g1-0")
}
