// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
)

// A request that takes long delays none of the others, and one that fails is in no wait.
func TestAnswers(t *testing.T) {
	t.Parallel()
	var a answers
	var others sync.WaitGroup
	others.Add(4)
	a.measure(&a.writes, func() error { others.Wait(); return nil })
	for n := range 4 {
		a.measure(&a.reads, func() error {
			defer others.Done()
			if n == 0 {
				return errors.New("429")
			}
			return nil
		})
	}
	sum := a.sum()
	require.Equal(t, []int{4, 1}, []int{sum.Requests, sum.Failed})
	require.Len(t, a.reads, 3)
	require.Equal(t, times.Wait{P50: a.writes[0], P99: a.writes[0], Max: a.writes[0]}, sum.Write)
	require.Positive(t, sum.Write.P50)
}

func TestWritesAndEventsOfAPod(t *testing.T) {
	t.Parallel()
	writes, events := perPod(times.Calls{
		"a": {"create pods/binding": 4, "patch podgroups": 2, "create events": 3, "patch events": 1, "list pods": 9}, "b": {"get pods": 1},
	}, 4)
	require.Equal(t, map[string]float64{"a": 1.5}, writes)
	require.Equal(t, map[string]float64{"a": 1}, events)
}
