// SPDX-License-Identifier: Apache-2.0

package trainer

import (
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeAPI lists pods to whoever has the token.
type fakeAPI struct {
	mu sync.Mutex
	// pods have labels, phases and IPs; no trainer runs while pending.
	pods    []map[string]any
	pending bool
	refuse  int
}

func (f *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.refuse != 0:
		http.Error(w, "pods is forbidden", f.refuse)
		return
	case r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/api/v1/namespaces/train/pods":
		http.Error(w, r.URL.Path, http.StatusNotFound)
		return
	}
	name, value, _ := strings.Cut(r.URL.Query().Get("labelSelector"), "=")
	var items []map[string]any
	for _, pod := range f.pods {
		labels, _ := pod["metadata"].(map[string]any)["labels"].(map[string]string)
		if labels[name] != value {
			continue
		}
		if name == "paddle-job" && f.pending {
			pod = map[string]any{"metadata": pod["metadata"], "status": map[string]any{"phase": "Pending"}}
		}
		items = append(items, pod)
	}
	text, err := json.Marshal(map[string]any{"items": items})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
	_, _ = w.Write(text)
}

// ctrGang is the raw Volcano Job of the seeds, with an API server.
func ctrGang(t *testing.T) (*gang, *fakeAPI) {
	t.Helper()
	api := &fakeAPI{}
	server := httptest.NewUnstartedServer(api)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // pods that end in the middle of a handshake
	server.StartTLS()
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	require.NoError(t, err)
	g := newGang(t)
	g.account = t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(filepath.Join(g.account, "ca.crt"), authority, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(g.account, "token"), []byte("secret\n"), 0o600))
	for i, role := range []string{"PSERVER", "PSERVER", "TRAINER", "TRAINER"} {
		name, label := fmt.Sprintf("pserver-%d", i), "paddle-job-pserver"
		if role == "TRAINER" {
			name, label = fmt.Sprintf("trainer-%d", i-2), "paddle-job"
		}
		p := g.add(name, "paddle_k8s", "start_fluid")
		p.env["TRAINING_ROLE"], p.env["PADDLE_TRAINING_ROLE"], p.env["POD_IP"], p.env["PADDLE_CURRENT_IP"] = role, role, p.ip, p.ip
		api.pods = append(api.pods, map[string]any{
			"metadata": map[string]any{"labels": map[string]string{label: "fluid-ctr"}},
			"status":   map[string]any{"phase": "Running", "podIP": p.ip},
		})
	}
	for name, value := range map[string]string{
		"NAMESPACE": "train", "PADDLE_JOB_NAME": "fluid-ctr", "PADDLE_PORT": "30236", "PADDLE_PSERVERS_NUM": "2", "PADDLE_TRAINERS_NUM": "2",
		"PADDLE_IS_LOCAL": "0", "KUBERNETES_SERVICE_HOST": address.Hostname(), "KUBERNETES_SERVICE_PORT": address.Port(),
		"ENTRY": "cd " + g.dir + " && python train.py --is_local 0 --cloud_train 1", "MODEL_DIR": "models",
	} {
		g.set(name, value)
	}
	return g, api
}

func TestTheCTRExampleTrains(t *testing.T) {
	g, api := ctrGang(t)
	api.pending = true
	const waits = "waits for PADDLE_TRAINERS_NUM=2 pods, of which only 0 run"
	g.seen = func(line string) {
		if strings.HasPrefix(line, waits) {
			api.mu.Lock()
			api.pending = false
			api.mu.Unlock()
		}
	}
	all := g.run(t)
	g.dir = filepath.Join(g.dir, "models") // where train.py leaves them, in its own folder
	g.requireTrained(t, 2, all)
	require.Contains(t, all["trainer-0"].log+all["trainer-1"].log, waits)
	require.Contains(t, all["pserver-0"].log, "+ PADDLE_PSERVERS="+g.pods[0].ip+":30236,"+g.pods[1].ip+":30237")
}

func TestTheCTRExampleSaysWhatIsWrong(t *testing.T) {
	var cases []spoilt
	for _, test := range []struct {
		name  string
		spoil func(*gang, *fakeAPI)
		want  string
	}{
		{"no rights", func(_ *gang, api *fakeAPI) { api.refuse = http.StatusForbidden }, "the service account may not list pods: 403 Forbidden: pods is forbidden"},
		{"a broken API server", func(_ *gang, api *fakeAPI) { api.refuse = http.StatusBadGateway }, "list pods: 502"},
		{"no account", func(g *gang, _ *fakeAPI) { g.account = "/no/such" }, "no service account"},
		{"no API server", func(g *gang, _ *fakeAPI) { g.set("KUBERNETES_SERVICE_HOST", "") }, "no API server"},
		{"no program", func(g *gang, _ *fakeAPI) { g.set("ENTRY", "") }, `ENTRY=""`},
		{"another program", func(g *gang, _ *fakeAPI) { g.set("ENTRY", "python infer.py") }, "is not what this stand-in"},
		{"a pod too few", func(_ *gang, api *fakeAPI) { api.pods = api.pods[1:] }, "waits for PADDLE_PSERVERS_NUM=2 pods, of which only 1 run"},
		{"another address", func(_ *gang, api *fakeAPI) {
			api.pods[3]["status"] = map[string]any{"phase": "Running", "podIP": "127.9.9.9"}
		}, "is not among those of the job's pods"},
		{"failed trainers", func(_ *gang, api *fakeAPI) {
			for range 2 {
				api.pods = append(api.pods, map[string]any{"metadata": api.pods[3]["metadata"], "status": map[string]any{"phase": "Failed"}})
			}
		}, "2 trainers have failed, and at most 1 may"},
		{"another role", func(g *gang, _ *fakeAPI) { g.set("TRAINING_ROLE", "HETER") }, `wrong role: TRAINING_ROLE is "HETER"`},
	} {
		g, api := ctrGang(t)
		test.spoil(g, api)
		cases = append(cases, spoilt{test.name, g, test.want})
	}
	requireWords(t, cases)
}
