// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/framework"
	vcutil "volcano.sh/volcano/pkg/util"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
)

// scrape reads our metrics from the very handler that Volcano serves at /metrics: value by name and labels.
func scrape(t *testing.T) map[string]float64 {
	t.Helper()
	recorder := httptest.NewRecorder()
	vcutil.PromHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	require.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	values := map[string]float64{}
	for line := range strings.Lines(recorder.Body.String()) {
		line = strings.TrimSpace(line)
		at := strings.LastIndex(line, " ") // a label's value may have spaces
		if at < 0 || !strings.HasPrefix(line, metrics.Subsystem) {
			continue
		}
		name, value := line[:at], line[at+1:]
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		values[name] = number
	}
	return values
}

// added is what changed in the metrics while do ran: counters live as long as the process.
func added(t *testing.T, do func()) map[string]float64 {
	t.Helper()
	before := scrape(t)
	do()
	changes := map[string]float64{}
	for name, value := range scrape(t) {
		if old, ok := before[name]; !ok || value != old {
			changes[name] = value - old
		}
	}
	return changes
}

// Plugins are built each second, with the arguments of the present configuration.
func TestArgumentErrorsOfThePresentConfigurationAreCounted(t *testing.T) {
	for _, test := range []struct {
		arguments framework.Arguments
		wrong     float64
	}{
		{framework.Arguments{"search-budget": 0, "effort": 1, "weight": 2}, 2},
		{framework.Arguments{"search-budget": 0, "effort": 1, "weight": 2}, 2},
		{framework.Arguments{"search-budget": 0}, 1},
		{nil, 0},
	} {
		New(test.arguments)
		require.InDelta(t, test.wrong, scrape(t)["volcano_paddle_argument_errors"], 0)
	}
}
