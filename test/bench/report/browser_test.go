// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/browser"
)

//go:embed harness.html
var harness string

// looked is what the harness writes down.
type looked struct {
	Charts     int      `json:"charts"`
	Background string   `json:"background"`
	Text       string   `json:"text"`
	Wrong      []string `json:"wrong"`
}

func TestReportInABrowser(t *testing.T) {
	t.Parallel()
	chromium, ok := browser.Find(t, "the report")
	if !ok {
		t.Skip("no chromium is in PATH: Debian's package chromium has one")
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
	backgrounds := map[string]bool{}
	for _, view := range browser.Views {
		var found looked
		chromium.Look(t, func(w http.ResponseWriter) { _ = p.HTML(w) }, harness, view, &found)
		require.Empty(t, found.Wrong, "%+v", view)
		require.Equal(t, charts, found.Charts)
		require.NotEqual(t, found.Background, found.Text)
		backgrounds[found.Background] = true
	}
	require.Len(t, backgrounds, 2, "light and dark are not the same")
}
