// SPDX-License-Identifier: Apache-2.0

package speed

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

// Each case has as many pods, and as small gangs, as it says.
func TestCasesAreWhatTheySay(t *testing.T) {
	for i, c := range Cases() {
		pods, fewest := 0, c.Pods
		modes := map[cluster.Mode]bool{}
		jobs := c.jobs(c)
		for i, job := range jobs {
			pods += job.Pods()
			fewest = min(fewest, job.Pods())
			modes[job.Mode] = true
			require.Equal(t, -i, job.Age)
		}
		require.Equal(t, c.Pods, pods)
		require.Equal(t, c.Gang, fewest)
		require.True(t, modes[cluster.PS])
		require.Equal(t, c.Mode == modeMixed, modes[cluster.Collective])
		require.Equal(t, i == 2, !modes[cluster.Collective])
	}
}

func TestScaleHasTheMedianAndTheMost(t *testing.T) {
	var progress strings.Builder
	row, err := tiny(mixed).scale(3, 1, &progress)
	require.NoError(t, err)
	require.Equal(t, 40, row.Bound)
	require.Len(t, row.Runs, 3)
	require.Len(t, row.Sessions, 3)
	require.Greater(t, row.Session, row.Allocate, "a session also opens and closes")
	require.InDelta(t, 40/row.Allocate, row.Rate, 1e-9)
	require.Greater(t, row.Memory, 1.0)
	require.Contains(t, progress.String(), "scale: 40 nodes, 40 pods: a session takes ")
}

// Each size doubles the pods or the nodes of the one before, and its nodes have GPUs for all pods.
func TestScalesDouble(t *testing.T) {
	cases := scales()
	for i, c := range cases {
		free := int64(0)
		for _, node := range c.fleet(1) {
			free += machine.GPU
			for _, held := range node.Running {
				free -= held.GPU
			}
		}
		require.Greater(t, free, int64(c.Pods))
		if i > 0 {
			require.Equal(t, 2*cases[i-1].Nodes*cases[i-1].Pods, c.Nodes*c.Pods)
		}
	}
	require.Equal(t, []int{30_000, 100_000}, []int{cases[len(cases)-1].Nodes, cases[len(cases)-1].Pods})
}

func TestLargerClustersAreLeftOut(t *testing.T) {
	for largest, want := range map[int]int{0: 3, 5000: 3, 4999: 1, 1000: 1, 999: 0, -1: 0} {
		s := Settings{Largest: largest}
		require.Len(t, s.cases(), want, "%d", largest)
	}
	_, err := Measure(Settings{Largest: 999}, io.Discard)
	require.EqualError(t, err, "no case of speed has at most 999 nodes (--largest): the smallest has 1000")
}

func tiny(jobs func(Case) []*cluster.Job) Case {
	return Case{Nodes: 40, Pods: 40, Gang: 10, Mode: "tiny", jobs: jobs}
}

func TestARowOfBothWithAllPodsBound(t *testing.T) {
	var progress strings.Builder
	row, err := tiny(mixed).measure(Settings{Seed: 3, Runs: 2}, 100, &progress)
	require.NoError(t, err)
	require.Equal(t, 40, row.StockBound)
	require.Equal(t, 40, row.PaddleBound)
	require.Len(t, row.StockRuns, 2)
	require.Len(t, row.PaddleRuns, 2)
	require.Positive(t, row.Stock)
	require.InDelta(t, row.Stock/row.Paddle, row.Ratio, 1e-12)
	require.EqualValues(t, 100, row.Percentage)
	require.Equal(t, 4, strings.Count(progress.String(), "bound 40 pods"))
}

func TestOverheadInPairs(t *testing.T) {
	o, err := tiny(plain).overhead(Settings{Seed: 3, Pairs: 3}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, 120, o.StockBound)
	require.Equal(t, 120, o.PaddleBound)
	require.Greater(t, o.Session.Stock, o.Allocate.Stock)
	require.LessOrEqual(t, o.Session.Low, o.Session.Percent)
	require.LessOrEqual(t, o.Session.Percent, o.Session.High)
}

func TestCompare(t *testing.T) {
	c := compare([]float64{1, 2, 4, 1, 1, 1}, []float64{1.01, 2.04, 4.12, 1.04, 1.05, 1.06})
	require.InDelta(t, 3.5, c.Percent, 1e-9)
	require.InDelta(t, 1, c.Low, 1e-9)
	require.InDelta(t, 6, c.High, 1e-9)
	require.InDelta(t, 1, c.Stock, 0)
	require.InDelta(t, 0.96875, c.Level, 1e-12)
	o := Overhead{Session: Compared{Percent: 1}, Allocate: Compared{Percent: 2}}
	require.Equal(t, o.Allocate, o.Worse())
	o.Session.Percent = 3
	require.Equal(t, o.Session, o.Worse())
}

func TestARunLeavesNoClusterInMemory(t *testing.T) {
	c := Case{Nodes: 500, Pods: 1_000, Gang: 20, Mode: modeMixed, jobs: mixed}
	heap := func() float64 {
		_, err := c.run(cluster.Paddle(nil), 0, 1, io.Discard)
		require.NoError(t, err)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc) / (1 << 20)
	}
	first := heap() // loads what stays: types, metrics, pools
	require.InDelta(t, first, heap(), 3, "MiB; a cluster of this size is 8")
}
