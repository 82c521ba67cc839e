// SPDX-License-Identifier: Apache-2.0

package fluid

import (
	"math"
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
