// SPDX-License-Identifier: Apache-2.0

package drawing

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "embed" // the harness

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/browser"
)

func split(text string) []string { return strings.Split(text, "\n") }

//go:embed testdata/harness.html
var harness string

// looked is what the harness writes down.
type looked struct {
	Nodes      int      `json:"nodes"`
	Racks      int      `json:"racks"`
	Lit        int      `json:"lit"`
	After      int      `json:"after"`
	Said       string   `json:"said"`
	Letters    float64  `json:"letters"`
	Colours    int      `json:"colours"`
	Pages      int      `json:"pages"`
	Background string   `json:"background"`
	Wrong      []string `json:"wrong"`
}

func written(t *testing.T, m *Map) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, m.HTML(&b))
	return b.Bytes()
}

// The page of 847 hosts at a phone's width and at a desk's, by day and by night, and on paper.
func TestPageInABrowser(t *testing.T) {
	t.Parallel()
	chromium, ok := browser.Find(t, "the map")
	if !ok {
		t.Skip("no chromium is in PATH: Debian's package chromium has one")
	}
	text := written(t, New(lingjunObjects(t)))
	backgrounds := map[string]bool{}
	for _, view := range browser.Views {
		var found looked
		chromium.Look(t, func(w http.ResponseWriter) { _, _ = w.Write(text) }, harness, view, &found)
		require.Empty(t, found.Wrong, "%+v", view)
		require.Equal(t, []int{847, 119}, []int{found.Nodes, found.Racks})
		require.Contains(t, found.Said, "GPUs")
		require.Positive(t, found.Lit)
		require.Positive(t, found.After)
		require.NotEqual(t, found.Lit, found.After, "a click in the legend lights another job")
		require.GreaterOrEqual(t, found.Letters, 7.0, "letters are readable")
		require.Greater(t, found.Colours, 6)
		require.Greater(t, found.Pages, 1)
		backgrounds[found.Background] = true
	}
	require.Len(t, backgrounds, 2, "light and dark are not the same")
}

// most is how many milliseconds longer than an empty page the map may take to open. An empty page is subtracted because other
// processes use the machine at the same time.
const most = 1000.0

func TestPageOpensFast(t *testing.T) {
	chromium, ok := browser.Find(t, "how long the map takes to open")
	if !ok {
		t.Skip("no chromium is in PATH: Debian's package chromium has one")
	}
	text := written(t, New(lingjunObjects(t)))
	took := chromium.Open(t, 5,
		func(w http.ResponseWriter) { _, _ = w.Write(text) },
		func(w http.ResponseWriter) { _, _ = w.Write([]byte("<!doctype html><title>none</title><p>nothing")) })
	t.Logf("847 hosts, %d KiB: %.0f ms; an empty page: %.0f ms", len(text)>>10, took[0], took[1])
	require.Less(t, slices.Min(took[0])-slices.Min(took[1]), most, "milliseconds, beyond an empty page")
}

// What was drawn can be looked at: _output/kubectl-paddle.
func TestDraw(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "..", "_output", "kubectl-paddle")
	require.NoError(t, os.MkdirAll(folder, 0o750))
	m := New(lingjunObjects(t))
	for name, text := range map[string][]byte{"lingjun.html": written(t, m), "lingjun.svg": m.SVG(), "lingjun.txt": []byte(m.Text(Terminal{Width: 100}))} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
}
