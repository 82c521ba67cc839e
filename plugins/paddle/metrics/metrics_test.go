// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	scraped "github.com/paddle-volcano/paddle-volcano/test/scrape"
)

// scrape returns the values of the plugin's metrics.
func scrape(t *testing.T) map[string]float64 {
	t.Helper()
	return scraped.Values(t, Subsystem)
}

// added returns by how much the plugin's metrics changed while do ran.
func added(t *testing.T, do func()) map[string]float64 {
	t.Helper()
	return scraped.Added(t, Subsystem, do)
}

func TestObservePlan(t *testing.T) {
	changes := added(t, func() {
		ObservePlan(OutcomePlaced, 3*time.Millisecond)
		ObservePlan(OutcomePlaced, 5*time.Second)
		ObservePlan(OutcomeStale, 0) // nothing was planned, so no time is known
	})
	require.InDelta(t, 2, changes[`volcano_paddle_plans_total{outcome="placed"}`], 0)
	require.InDelta(t, 1, changes[`volcano_paddle_plans_total{outcome="stale"}`], 0)
	require.NotContains(t, changes, `volcano_paddle_plans_total{outcome="nofit"}`)
	require.InDelta(t, 2, changes["volcano_paddle_plan_duration_seconds_count"], 0)
	require.InDelta(t, 5.003, changes["volcano_paddle_plan_duration_seconds_sum"], 1e-9)
	require.InDelta(t, 1, changes[`volcano_paddle_plan_duration_seconds_bucket{le="0.0032"}`]-
		changes[`volcano_paddle_plan_duration_seconds_bucket{le="0.0016"}`], 0, "3 ms are between 1.6 and 3.2 ms")
}

func TestCountHint(t *testing.T) {
	changes := added(t, func() {
		CountHint(HintTaken)
		CountHint(HintTaken)
		CountHint(HintRefused)
	})
	require.Equal(t, map[string]float64{
		`volcano_paddle_hints_total{result="taken"}`: 2, `volcano_paddle_hints_total{result="refused"}`: 1,
	}, changes)
}

func TestAddCrossing(t *testing.T) {
	changes := added(t, func() {
		AddCrossing("rack", 1e9, true)
		AddCrossing("rack", 2e9, true)
		AddCrossing("node", 5e9, true)
		AddCrossing("node", 6, false)
	})
	require.Equal(t, map[string]float64{
		`volcano_paddle_predicted_crossing_bytes_total{tier="rack"}`:       3e9,
		`volcano_paddle_predicted_crossing_bytes_total{tier="node"}`:       5e9,
		`volcano_paddle_predicted_crossing_model_sizes_total{tier="node"}`: 6,
	}, changes)
}

func TestSetPending(t *testing.T) {
	const full, limit = `volcano_paddle_pending_jobs{reason="test-full"}`, `volcano_paddle_pending_jobs{reason="test-limit"}`
	SetPending(map[string]int{"test-full": 3, "test-limit": 1})
	require.Subset(t, scrape(t), map[string]float64{full: 3, limit: 1})
	SetPending(map[string]int{"test-limit": 2})
	require.Subset(t, scrape(t), map[string]float64{full: 0, limit: 2})
	SetPending(nil)
	require.Subset(t, scrape(t), map[string]float64{full: 0, limit: 0})
}

// Series that an alert may query exist before anything happened.
func TestMetrics_StartAtZero(t *testing.T) {
	values := scrape(t)
	for _, name := range []string{
		`plans_total{outcome="placed"}`, `plans_total{outcome="nofit"}`, `plans_total{outcome="stale"}`, `plans_total{outcome="fallback"}`,
		`hints_total{result="taken"}`, `hints_total{result="refused"}`, "argument_errors", "plan_duration_seconds_count",
	} {
		require.Contains(t, values, Subsystem+"_"+name)
	}
}
