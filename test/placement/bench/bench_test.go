// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/placement/instances"
)

// drawn are the instances of `make bench-placement`, by their seeds, that tests measure.
func drawn() map[uint64]int {
	if instances.Some(0, 1) == 0 {
		return map[uint64]int{20: 200}
	}
	return map[uint64]int{1: 500, 20: 500}
}

func TestPlansAreOptimal(t *testing.T) {
	for seed, n := range drawn() {
		o := measureOptimality(Settings{Seed: seed, Instances: n}, io.Discard)
		require.Empty(t, o.BrokenPromises, "seed %d", seed)
		require.Zero(t, o.Missed, "seed %d, instances %v", seed, o.MissedInstances)
		require.LessOrEqual(t, o.Mean, 1.005, "seed %d, worst %v", seed, o.Worst)
		require.LessOrEqual(t, o.P99, 1.05, "seed %d, worst %v", seed, o.Worst)
		require.Greater(t, o.Compared, n/2)
	}
}

func TestPlansAreNeverAboveTheBaselines(t *testing.T) {
	overall, results := measureBaselines(Settings{Seed: 20, Clusters: instances.Some(12, 40)}, io.Discard)
	require.Empty(t, overall.Broken)
	require.Zero(t, overall.NoPlan)
	require.Zero(t, overall.Worse, "clusters %v", overall.WorseInstances)
	require.GreaterOrEqual(t, overall.BusiestNotAbove, equalNotAbove, "clusters %v", overall.BusiestAbove)
	require.Len(t, results, 4)
}

// What Run writes can be read back, is judged, and is the same for the same seed.
func TestRunWritesAReport(t *testing.T) {
	read := func() *Report {
		folder := t.TempDir()
		settings := Settings{Seed: 4, Instances: 20, Clusters: 4, Folder: folder, Only: []string{"optimality", "baselines"}}
		require.NoError(t, Run(settings, io.Discard))
		text, err := os.ReadFile(filepath.Join(folder, "placement.json"))
		require.NoError(t, err)
		report := &Report{}
		require.NoError(t, json.Unmarshal(text, report))
		return report
	}
	report := read()
	require.EqualValues(t, 4, report.Seed)
	require.Equal(t, 20, report.Optimality.Instances)
	require.Len(t, report.Baselines, 4)
	require.Nil(t, report.Speed)
	require.Len(t, report.Bars, len(report.bars()))
	require.Equal(t, report, read())
}
