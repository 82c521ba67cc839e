// SPDX-License-Identifier: Apache-2.0

package fluid

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAJobAlone(t *testing.T) {
	e := NewEngine([]float64{1}, -10)
	require.True(t, math.IsInf(e.Next(), 1))
	e.Start(7, job(1, on(0, 1)), 10)
	require.InDelta(t, 10, e.Next(), 1e-9)
	require.Empty(t, e.Advance(3))
	require.InDelta(t, 10, e.Next(), 1e-9, "the time that passes changes nothing")
	require.Equal(t, []int{7}, e.Advance(e.Next()))
	require.True(t, math.IsInf(e.Next(), 1))
}

// Both have steps of 2 s alone and of 2.618 s together (TestSteps). The first does 2.5 of its 10 steps before the second
// comes at 5; that one ends its 4 steps at 15.472, and then the first has 3.5 steps of 2 s left.
func TestWhoeverComesAndGoesChangesTheOthersPace(t *testing.T) {
	golden := (3 + math.Sqrt(5)) / 2
	e := NewEngine([]float64{1}, 0)
	e.Start(0, job(1, on(0, 1)), 10)
	require.Empty(t, e.Advance(5))
	e.Start(1, job(1, on(0, 1)), 4)
	require.InDelta(t, 5+4*golden, e.Next(), 1e-6)
	e.Computing(func(_ int, share float64) { require.InDelta(t, 1/golden, share, 1e-6) })
	require.Equal(t, []int{1}, e.Advance(e.Next()))
	require.InDelta(t, 5+4*golden+3.5*2, e.Next(), 1e-6)
	require.Equal(t, []int{0}, e.Advance(e.Next()))
}

func TestJobsThatSendNothingKeepTheirPace(t *testing.T) {
	e := NewEngine([]float64{1}, 0)
	e.Start(0, job(1), 10)
	e.Start(1, job(1, on(0, 1)), 5)
	e.Start(2, job(2), 5)
	require.Equal(t, []int{0, 1, 2}, e.Advance(10), "in the order of their starts")
}

// TestEngineAgainstSmallSteps lets time pass in small steps, in each of which all jobs go at their pace of that moment.
func TestEngineAgainstSmallSteps(t *testing.T) {
	const tick = 1e-3
	rng := rand.New(rand.NewPCG(3, 3))
	for range 20 {
		bandwidth, jobs := drawn(rng)
		starts, steps := make([]float64, len(jobs)), make([]float64, len(jobs))
		for j := range jobs {
			starts[j], steps[j] = math.Floor(rng.Float64()*5000)*tick, 1+5*rng.Float64()
		}
		want := small(bandwidth, jobs, starts, steps, tick)

		e, got := NewEngine(bandwidth, 0), make([]float64, len(jobs))
		started := make([]bool, len(jobs))
		for {
			at, next := e.Next(), -1
			for j := range jobs {
				if !started[j] && starts[j] <= at && (next < 0 || starts[j] < starts[next]) {
					next = j
				}
			}
			if next >= 0 {
				at = starts[next]
			}
			if math.IsInf(at, 1) {
				break
			}
			for _, id := range e.Advance(at) {
				got[id] = at
			}
			if next >= 0 {
				e.Start(next, jobs[next], steps[next])
				started[next] = true
			}
		}
		for j := range jobs {
			require.InDelta(t, want[j], got[j], 0.05, "job %d of %d", j, len(jobs))
		}
	}
}

// small gives the end of each job.
func small(bandwidth []float64, jobs []Job, starts, left []float64, tick float64) []float64 {
	ends := make([]float64, len(jobs))
	rest := append([]float64(nil), left...)
	var pace []float64
	var members []int
	for n := 0; ; n++ {
		now := float64(n) * tick
		var running []int
		open := false
		for j := range jobs {
			open = open || ends[j] == 0
			if ends[j] == 0 && starts[j] <= now+tick/2 {
				running = append(running, j)
			}
		}
		if !open {
			return ends
		}
		if !slices.Equal(running, members) {
			members = running
			var set []Job
			for _, j := range running {
				set = append(set, jobs[j])
			}
			pace = Steps(bandwidth, set)
		}
		for i, j := range members {
			if rest[j] -= tick / pace[i]; rest[j] <= 0 {
				ends[j] = now + tick
			}
		}
	}
}
