// SPDX-License-Identifier: Apache-2.0

// Package browser opens pages in a headless Chromium for tests, and tells what is found there and how long opening took; what is right on a page, its test says.
package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Browser is a Chromium of this machine.
type Browser struct{ path string }

// Find finds one; false where there is none: then it is said loudly what nobody has looked at, and with BROWSER=1 it is an
// error.
func Find(t *testing.T, what string) (*Browser, bool) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return &Browser{path}, true
		}
	}
	require.Empty(t, os.Getenv("BROWSER"), "no chromium is installed")
	fmt.Fprintf(os.Stderr, "=== NO BROWSER: nobody has looked at %s. Install chromium (Debian: apt-get install chromium) to have it looked at.\n", what)
	return nil, false
}

// command runs the browser, without a window and without a word to anybody else.
func (b *Browser) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--user-data-dir=" + t.TempDir(), "--window-size=1400,1000"}, args...)
	return exec.CommandContext(t.Context(), b.path, args...) //nolint:gosec // Find's own path
}

// View is how a page is looked at.
type View struct {
	Width int
	// Scheme is light or dark.
	Scheme string
}

// Views are a phone's and a desk's, by day and by night.
var Views = []View{{360, "light"}, {360, "dark"}, {1280, "light"}, {1280, "dark"}}

// Look opens a page in a view. The harness is a template of the page around it: with {{.Width}} and {{.Scheme}} it shows
// /page in a frame, and writes what it finds, as JSON, into an element <pre id="found">; that is read into found.
func (b *Browser) Look(t *testing.T, page func(w http.ResponseWriter), harness string, v View, found any) {
	t.Helper()
	shell := template.Must(template.New("harness").Parse(harness))
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { page(w) })
	mux.HandleFunc("/harness", func(w http.ResponseWriter, _ *http.Request) {
		_ = shell.Execute(w, map[string]any{"Width": v.Width, "Scheme": template.CSS(v.Scheme)}) //nolint:gosec // a test's own
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	command := b.command(t, "--virtual-time-budget=10000", "--dump-dom", server.URL+"/harness")
	var complaints bytes.Buffer
	command.Stderr = &complaints
	text, err := command.Output()
	require.NoError(t, err, complaints.String())
	result := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindSubmatch(text)
	require.NotNil(t, result, string(text))
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(result[1]))), found), "%s\n%s", result[1], complaints.String())
}
