// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/framework"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	scraped "github.com/paddle-volcano/paddle-volcano/test/scrape"
)

// scrape returns the values of the plugin's metrics.
func scrape(t *testing.T) map[string]float64 {
	t.Helper()
	return scraped.Values(t, metrics.Subsystem)
}

// added returns by how much the plugin's metrics changed while do ran.
func added(t *testing.T, do func()) map[string]float64 {
	t.Helper()
	return scraped.Added(t, metrics.Subsystem, do)
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
