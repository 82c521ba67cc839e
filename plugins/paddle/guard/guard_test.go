// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/placement"
)

// counted counts what a Guard reports.
type counted struct{ panicked, stopped int }

func newGuard() (*Guard, *counted) {
	c := &counted{}
	return New(Metrics{
		Panicked: func(string) { c.panicked++ }, Stopped: func() { c.stopped++ }, Abandoned: func() {}, Ended: func() {},
	}), c
}

var (
	work = Work{Part: "plan", Job: "ns/job"}
	jobs = map[api.JobID]*api.JobInfo{"ns/job": nil}
)

func TestGuard_BacksOffTwiceAsLongEachTime(t *testing.T) {
	g, _ := newGuard()
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
	g, counts := newGuard()
	err := g.Run(work, func() error { panic("no such domain") })
	require.ErrorIs(t, err, ErrPanicked)
	require.ErrorContains(t, err, "TestGuard_RunRecovers")
	require.True(t, Failed(err))
	require.ErrorIs(t, g.BackedOff(work), ErrPanicked)
	require.ErrorIs(t, g.Run(Work{Part: "plan"}, func() error { panic("no such domain") }), ErrPanicked)
	require.NoError(t, g.BackedOff(Work{Part: "plan"}), "the work of all jobs goes on")
	require.Equal(t, 2, counts.panicked)
	failure := errors.New("no nodes")
	require.ErrorIs(t, g.Run(work, func() error { return failure }), failure)
	require.False(t, Failed(failure))
}

func TestSearch_PanicOfTheSearch(t *testing.T) {
	g, counts := newGuard()
	lost := 0
	search := func(func() bool) (int, error) { panic("no such domain") }
	_, err := Search(g, work, func() { lost++ }, search)
	require.ErrorIs(t, err, ErrPanicked)
	_, err = Search(g, work, func() { lost++ }, search)
	require.ErrorIs(t, err, ErrPanicked, "it is not tried again")
	require.Equal(t, 1, counts.panicked)
	require.Equal(t, 1, lost)
}

// A job that finds the session's time used up is not backed off.
func TestSearch_StopsAtTheEndOfTheBudget(t *testing.T) {
	g, counts := newGuard()
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
	require.ErrorIs(t, ends(10*time.Millisecond), errNoTime)
	require.NoError(t, g.BackedOff(work))
	require.ErrorIs(t, ends(0), errNoTime)
	require.NoError(t, g.BackedOff(work))
	require.ErrorIs(t, ends(90*time.Millisecond), errTooSlow)
	require.ErrorIs(t, g.BackedOff(work), errTooSlow)
	require.Equal(t, 2, counts.stopped)
}
