// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"bytes"
	_ "embed" // the harness
	"encoding/json"
	"html"
	"html/template"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/live"
)

func split(text string) []string { return strings.Split(text, "\n") }

func written(t *testing.T, m *Map) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.HTML(&b))
	return b.Bytes()
}

// The page of 847 hosts stays small enough to be opened at once and to be attached to a mail.
func TestPageIsSmall(t *testing.T) {
	t.Parallel()
	text := written(t, New(lingjunObjects(t)))
	require.Less(t, len(text), 512<<10, "bytes")
	require.Less(t, bytes.Count(text, []byte("<path")), 10_000, "elements")
}

// chromium returns the path of a Chromium. A test without one is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	live.SkipUnlessAll(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no chromium is in PATH: Debian's package chromium has one")
	return ""
}

// profile returns a folder for a browser's profile. Children of Chromium may still write there when it has ended, so that the
// folder is removed again until it is gone.
func profile(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "chromium-") //nolint:usetesting // t.TempDir fails while children of Chromium still write
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Eventually(t, func() bool { return os.RemoveAll(folder) == nil }, 10*time.Second, 100*time.Millisecond, "remove %s", folder)
	})
	return folder
}

//go:embed testdata/harness.html
var harness string

// looked is what the harness finds on the page.
type looked struct {
	Nodes      int      `json:"nodes"`
	Racks      int      `json:"racks"`
	Lit        int      `json:"lit"`
	After      int      `json:"after"`
	Details    string   `json:"details"`
	Letters    float64  `json:"letters"`
	Colours    int      `json:"colours"`
	Pages      int      `json:"pages"`
	Background string   `json:"background"`
	Wrong      []string `json:"wrong"`
}

// lookAt opens a page in the harness, in a frame of the width and the colour scheme, and returns what that has found.
func lookAt(t *testing.T, browser string, page []byte, width int, scheme string) (found looked) {
	t.Helper()
	shell := template.Must(template.New("harness").Parse(harness))
	mux := http.NewServeMux()
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) })
	mux.HandleFunc("/harness", func(w http.ResponseWriter, _ *http.Request) {
		_ = shell.Execute(w, map[string]any{"Width": width, "Scheme": template.CSS(scheme)}) //nolint:gosec // a constant of the test
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	command := exec.CommandContext(t.Context(), browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", //nolint:gosec // the path that chromium found
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+profile(t),
		"--window-size=1400,1000", "--virtual-time-budget=10000", "--dump-dom", server.URL+"/harness")
	var errors bytes.Buffer
	command.Stderr = &errors
	text, err := command.Output()
	require.NoError(t, err, errors.String())
	result := regexp.MustCompile(`(?s)<pre id="found">(.*?)</pre>`).FindSubmatch(text)
	require.NotNil(t, result, string(text))
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(string(result[1]))), &found), "%s\n%s", result[1], errors.String())
	return found
}

// The page of 847 hosts as wide as a phone and as a desktop screen, light and dark, and on paper.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	browser, page := chromium(t), written(t, New(lingjunObjects(t)))
	backgrounds := map[string]bool{}
	for _, width := range []int{360, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			found := lookAt(t, browser, page, width, scheme)
			require.Empty(t, found.Wrong, "%d, %s", width, scheme)
			require.Equal(t, []int{847, 119}, []int{found.Nodes, found.Racks})
			require.Contains(t, found.Details, "GPUs")
			require.Positive(t, found.Lit)
			require.Positive(t, found.After)
			require.NotEqual(t, found.Lit, found.After, "a click in the legend lights another job")
			require.GreaterOrEqual(t, found.Letters, 7.0, "letters are readable")
			require.Greater(t, found.Colours, 6)
			require.Greater(t, found.Pages, 1)
			backgrounds[found.Background] = true
		}
	}
	require.Len(t, backgrounds, 2, "light and dark are not the same")
}
