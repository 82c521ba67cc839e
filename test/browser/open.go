// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	_ "embed" // the page that takes the time
)

//go:embed open.html
var opener string

// Open opens pages in turns, as often as there are rounds, and returns how many milliseconds each took until it was laid
// out and painted: by page, then by round. The first round, in which the browser itself warms up, is left out.
func (b *Browser) Open(t *testing.T, rounds int, pages ...func(w http.ResponseWriter)) (took [][]float64) {
	t.Helper()
	heard := make(chan []byte, 1)
	mux := http.NewServeMux()
	for i, page := range pages {
		mux.HandleFunc(fmt.Sprintf("/page%d", i), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Cache-Control", "no-store")
			page(w)
		})
	}
	mux.HandleFunc("/open", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, opener, len(pages), rounds+1) }) //nolint:errcheck // the test would not end
	mux.HandleFunc("/found", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		heard <- text
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	command := b.command(t, "--remote-debugging-port=0", server.URL+"/open")
	require.NoError(t, command.Start())
	defer func() { _ = command.Wait() }()
	defer func() { _ = command.Process.Kill() }()
	select {
	case text := <-heard:
		require.NoError(t, json.Unmarshal(text, &took), string(text))
	case <-t.Context().Done():
		require.Fail(t, "the browser did not answer")
	}
	return took
}
