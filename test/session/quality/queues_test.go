// SPDX-License-Identifier: Apache-2.0

package quality

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
)

func TestQueuesPlaceSomeAndNotAll(t *testing.T) {
	q, err := MeasureQueues(Settings{Seed: 1, Clusters: 1}, io.Discard)
	require.NoError(t, err)
	require.Equal(t, jobsPerQueue, q.Jobs)
	for _, placed := range []int{q.StockPlaced, q.OursPlaced} {
		require.Greater(t, placed, 3)
		require.Less(t, placed, jobsPerQueue)
	}
}

func TestAYoungerJobIsAheadOnlyInsteadOfAnOlderOne(t *testing.T) {
	jobs := []cluster.Job{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	for _, c := range []struct {
		name        string
		stock, ours []bool
		ahead       []string
	}{
		{"the same", []bool{true, true, false, true}, []bool{true, true, false, true}, nil},
		{"one more", []bool{true, false, false, true}, []bool{true, false, true, true}, nil},
		{"one fewer", []bool{true, true, false, true}, []bool{true, true, false, false}, nil},
		{"another one", []bool{true, true, false, false}, []bool{true, false, false, true}, []string{"cluster 7: d ahead of b"}},
		{"an older one instead", []bool{true, false, true, false}, []bool{true, true, false, false}, nil},
	} {
		q := Queues{}
		q.count(7, jobs, c.stock, c.ours)
		require.Equal(t, c.ahead, q.Ahead, c.name)
	}
}
