// SPDX-License-Identifier: Apache-2.0

// Package scrape reads metrics in tests from the handler that Volcano serves at /metrics.
package scrape

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	vcutil "volcano.sh/volcano/pkg/util"
)

// Values returns the values of metrics that begin with a prefix, by name and labels.
func Values(t *testing.T, prefix string) map[string]float64 {
	t.Helper()
	recorder := httptest.NewRecorder()
	vcutil.PromHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	values := map[string]float64{}
	for line := range strings.Lines(recorder.Body.String()) {
		line = strings.TrimSpace(line)
		at := strings.LastIndex(line, " ") // a label's value may have spaces
		if at < 0 || !strings.HasPrefix(line, prefix) {
			continue
		}
		name, value := line[:at], line[at+1:]
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		values[name] = number
	}
	return values
}

// Added returns by how much metrics changed while do ran; counters live as long as the process.
func Added(t *testing.T, prefix string, do func()) map[string]float64 {
	t.Helper()
	before := Values(t, prefix)
	do()
	changes := map[string]float64{}
	for name, value := range Values(t, prefix) {
		if old, ok := before[name]; !ok || value != old {
			changes[name] = value - old
		}
	}
	return changes
}
