// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The slice of `make bench-placement` that every test run measures, at two seeds.
const slice = 300

func TestPlansAreOptimal(t *testing.T) {
	for _, seed := range []uint64{1, 20} {
		o := measureOptimality(Settings{Seed: seed, Instances: slice}, false, io.Discard)
		require.Empty(t, o.BrokenPromises, "seed %d", seed)
		require.Zero(t, o.Disagreements, "seed %d, instances %v", seed, o.MissedInstances)
		require.LessOrEqual(t, o.Mean, 1.005, "seed %d, worst %v", seed, o.Worst)
		require.LessOrEqual(t, o.P99, 1.05, "seed %d, worst %v", seed, o.Worst)
		require.Greater(t, o.Compared, slice/2)
	}
}

func TestPlansAreGoodWithoutExactSearch(t *testing.T) {
	for _, seed := range []uint64{1, 20} {
		o := measureOptimality(Settings{Seed: seed, Instances: slice}, true, io.Discard)
		require.Empty(t, o.BrokenPromises, "seed %d", seed)
		require.LessOrEqual(t, o.Missed, 1, "seed %d, instances %v", seed, o.MissedInstances)
		require.LessOrEqual(t, o.Mean, 1.02, "seed %d, worst %v", seed, o.Worst)
		require.LessOrEqual(t, o.P99, 1.15, "seed %d, worst %v", seed, o.Worst)
	}
}

func TestPlansAreNeverAboveTheBaselines(t *testing.T) {
	overall, results := measureBaselines(Settings{Seed: 20, Clusters: 40}, io.Discard)
	require.Empty(t, overall.Broken)
	require.Zero(t, overall.NoPlan)
	require.Zero(t, overall.Worse, "clusters %v", overall.WorseInstances)
	require.GreaterOrEqual(t, overall.BusiestNotAbove, equalNotAbove, "clusters %v", overall.BusiestAbove)
	require.Len(t, results, 4)
}

func TestResultsDoNotDependOnWorkers(t *testing.T) {
	one := measureOptimality(Settings{Seed: 3, Instances: 60, Workers: 1}, true, io.Discard)
	four := measureOptimality(Settings{Seed: 3, Instances: 60, Workers: 4}, true, io.Discard)
	require.Equal(t, one, four)
}

func TestRunWritesAReportAndAPlot(t *testing.T) {
	folder := t.TempDir()
	settings := Settings{Seed: 4, Instances: 20, Clusters: 4, Folder: folder, Only: []string{"optimality", "baselines"}}
	require.NoError(t, Run(settings, io.Discard, io.Discard))
	text, err := os.ReadFile(filepath.Join(folder, "placement.json"))
	require.NoError(t, err)
	var report map[string]any
	require.NoError(t, json.Unmarshal(text, &report))
	require.EqualValues(t, 4, report["seed"])
	for _, name := range []string{"optimality", "optimality_heuristic"} {
		part, ok := report[name].(map[string]any)
		require.True(t, ok, name)
		require.EqualValues(t, 20, part["instances"])
		require.Subset(t, keys(part), []string{"instances", "feasibility_disagreements", "ratio_mean", "ratio_p99"})
	}
	baselines, ok := report["baselines"].([]any)
	require.True(t, ok)
	require.Len(t, baselines, 4)
	first, ok := baselines[0].(map[string]any)
	require.True(t, ok)
	require.Subset(t, keys(first), []string{"name", "cost_ratio_geomean", "instances_where_ours_is_worse"})
	require.NotEmpty(t, report["bars"])

	plot, err := os.ReadFile(filepath.Join(folder, "placement.svg"))
	require.NoError(t, err)
	var again Report
	require.NoError(t, json.Unmarshal(text, &again))
	require.Equal(t, string(plot), Plot(&again), "the plot follows from the file")
}

func keys(of map[string]any) (names []string) {
	for name := range of {
		names = append(names, name)
	}
	return names
}

func TestFieldsOfSpeedRows(t *testing.T) {
	text, err := json.Marshal(Speed{})
	require.NoError(t, err)
	var row map[string]any
	require.NoError(t, json.Unmarshal(text, &row))
	require.Subset(t, keys(row), []string{"case", "nodes", "pods", "jobs", "ms", "node_sort_ms", "allocs"})
}

func TestPlotIsADrawing(t *testing.T) {
	report := &Report{
		Optimality: summary([]outcome{{feasible: true, ratio: 1}, {feasible: true, ratio: 1.3}}), Heuristic: summary([]outcome{{feasible: true, missed: true}}),
		Overall: &Comparison{Clusters: 3}, Baselines: []BaselineResult{{Name: "a < b", CostRatio: 3}},
		Speed: []Speed{{Case: caseServers, Nodes: largeFleet.nodes, MS: 1, SortMS: 0.5, Sorts: 2}},
	}
	plot := Plot(report)
	require.Equal(t, plot, Plot(report))
	decoder := xml.NewDecoder(strings.NewReader(plot))
	for {
		_, err := decoder.Token()
		if err == io.EOF { //nolint:errorlint // the decoder returns it bare
			break
		}
		require.NoError(t, err)
	}
	require.Contains(t, plot, "a &lt; b")
	require.Contains(t, plot, "prefers-color-scheme:dark")
	require.Contains(t, plot, `class="bar"`)
}
