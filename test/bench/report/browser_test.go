// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed"
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

//go:embed harness.html
var harness string

// browser is a Chromium, and false where there is none: then it is said loudly, and with BROWSER=1 it is an error.
func browser(t *testing.T) (string, bool) {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	require.Empty(t, os.Getenv("BROWSER"), "no chromium is installed")
	fmt.Fprintln(os.Stderr, "=== NO BROWSER: nobody has looked at the report. Install chromium (Debian: apt-get install chromium) to have it looked at.")
	return "", false
}

// looked is what the harness writes down.
type looked struct {
	Charts     int      `json:"charts"`
	Background string   `json:"background"`
	Text       string   `json:"text"`
	Wrong      []string `json:"wrong"`
}

// look opens a page in a browser and returns what the harness found.
func look(t *testing.T, chromium, url string) (found looked) {
	t.Helper()
	command := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--window-size=1400,1000", "--virtual-time-budget=10000", "--dump-dom", url)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	page, err := command.Output()
	require.NoError(t, err, complaints.String())
	text := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindSubmatch(page)
	require.NotNil(t, text, string(page))
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(text[1]))), &found), "%s\n%s", text[1], complaints.String())
	return found
}

func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	chromium, ok := browser(t)
	if !ok {
		return
	}
	before, folder := written(t, 0.4), written(t, 0.1, 0.2, 0.3)
	p, err := Read(folder)
	require.NoError(t, err)
	earlier, err := Read(before)
	require.NoError(t, err)
	p.Compare(earlier, before)
	charts := 0
	for _, s := range p.Sections {
		charts += len(s.Charts)
	}
	shell := template.Must(template.New("harness").Parse(harness))
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _ = p.HTML(w) })
	mux.HandleFunc("/harness", func(w http.ResponseWriter, r *http.Request) {
		_ = shell.Execute(w, map[string]any{"Width": template.JS(r.FormValue("width")), "Scheme": template.CSS(r.FormValue("scheme"))}) //nolint:gosec // our own test's
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	backgrounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{360, 1280} {
			found := look(t, chromium, fmt.Sprintf("%s/harness?width=%d&scheme=%s", server.URL, width, scheme))
			require.Empty(t, found.Wrong, "%d px, %s", width, scheme)
			require.Equal(t, charts, found.Charts)
			require.NotEqual(t, found.Background, found.Text)
			backgrounds[found.Background] = true
		}
	}
	require.Len(t, backgrounds, 2, "light and dark are not the same")
}
