// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/metrics"
	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
	"github.com/paddle-volcano/paddle-volcano/test/scrape"
)

// added returns by how much the plugin's metrics changed while do ran.
func added(t *testing.T, do func()) map[string]float64 {
	t.Helper()
	return scrape.Added(t, metrics.Subsystem, do)
}

var (
	work = Work{Part: "plan", Job: "ns/job"}
	jobs = map[api.JobID]*api.JobInfo{"ns/job": nil}
)

func TestGuard_BacksOffTwiceAsLongEachTime(t *testing.T) {
	g := New()
	for _, want := range []time.Duration{minBackoff, 2 * minBackoff, 4 * minBackoff} {
		g.backOff(work, errTooSlow)
		require.Equal(t, want, g.backoffs[work].wait)
		require.ErrorIs(t, g.BackedOff(work), errTooSlow)
	}
	g.backoffs[work] = backoff{wait: maxBackoff}
	require.NoError(t, g.BackedOff(work), "its time is over")
	g.backOff(work, errTooSlow)
	require.Equal(t, maxBackoff, g.backoffs[work].wait)
	g.StartSession(time.Second, jobs)
	require.Len(t, g.backoffs, 1)
	g.StartSession(time.Second, nil)
	require.Empty(t, g.backoffs, "the job is gone")
}

func TestGuard_RunRecovers(t *testing.T) {
	g := New()
	var err error
	run := func() { err = g.Run(work, func() error { panic("no such domain") }) }
	require.Equal(t, map[string]float64{`volcano_paddle_panics_total{part="plan"}`: 1}, added(t, run))
	require.ErrorIs(t, err, ErrPanicked)
	require.ErrorContains(t, err, "TestGuard_RunRecovers")
	require.True(t, Failed(err))
	require.ErrorIs(t, g.BackedOff(work), ErrPanicked)
	require.ErrorIs(t, g.Run(Work{Part: "plan"}, func() error { panic("no such domain") }), ErrPanicked)
	require.NoError(t, g.BackedOff(Work{Part: "plan"}), "the work of all jobs goes on")
	failure := errors.New("no nodes")
	require.ErrorIs(t, g.Run(work, func() error { return failure }), failure)
	require.False(t, Failed(failure))
}

func TestSearch_PanicOfTheSearch(t *testing.T) {
	g := New()
	lost := 0
	search := func(func() bool) (int, error) { panic("no such domain") }
	changes := added(t, func() {
		_, err := Search(g, work, func() { lost++ }, search)
		require.ErrorIs(t, err, ErrPanicked)
		_, err = Search(g, work, func() { lost++ }, search)
		require.ErrorIs(t, err, ErrPanicked, "it is not tried again")
	})
	require.Equal(t, map[string]float64{`volcano_paddle_panics_total{part="plan"}`: 1}, changes)
	require.Equal(t, 1, lost)
}

// A job that finds the session's time used up is not backed off.
func TestSearch_StopsAtTheEndOfTheBudget(t *testing.T) {
	g := New()
	ends := func(took time.Duration) error {
		g.StartSession(100*time.Millisecond, jobs)
		g.spent = 100*time.Millisecond - took
		_, err := Search(g, work, func() {}, func(stop func() bool) (int, error) {
			for !stop() {
				time.Sleep(time.Millisecond)
			}
			return 0, fmt.Errorf("plan: %w", placement.ErrStopped)
		})
		return err
	}
	changes := added(t, func() {
		require.ErrorIs(t, ends(10*time.Millisecond), errNoTime)
		require.NoError(t, g.BackedOff(work))
		require.ErrorIs(t, ends(0), errNoTime)
		require.NoError(t, g.BackedOff(work))
		require.ErrorIs(t, ends(90*time.Millisecond), errTooSlow)
		require.ErrorIs(t, g.BackedOff(work), errTooSlow)
	})
	require.Equal(t, map[string]float64{`volcano_paddle_stopped_searches_total{result="stopped"}`: 2}, changes)
}
