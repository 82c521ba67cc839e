// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestMemoryOfPlaces(t *testing.T) {
	m := newMemory()
	_, ok := m.recall("ns/a")
	require.False(t, ok)
	require.False(t, m.knows("ns/a"), "asking is not remembered")
	m.placed("ns/a", "a-0", "n1")
	m.placed("ns/a", "a-1", "n1")
	m.placed("ns/b", "b-0", "n3")
	m.placed("ns/a", "a-0", "n2")
	a, ok := m.recall("ns/a")
	require.True(t, ok)
	require.Equal(t, map[string]string{"a-0": "n2", "a-1": "n1"}, a.nodes)
	a.nodes["a-1"] = "changed"
	a, _ = m.recall("ns/a")
	require.Equal(t, "n1", a.nodes["a-1"], "what is recalled is a copy")
}

func TestMemoryOfFailures(t *testing.T) {
	m := newMemory()
	m.succeeded("ns/a")
	require.False(t, m.knows("ns/a"), "nothing to forget")
	m.failed("ns/a", "n1")
	m.failed("ns/a", "n2")
	m.failed("ns/a", "n1")
	m.failed("ns/b", "n9")
	a, _ := m.recall("ns/a")
	require.Equal(t, []string{"n2", "n1"}, a.failed)
	for i := range maxFailedNodes - 1 {
		m.failed("ns/a", fmt.Sprintf("m%d", i))
	}
	a, _ = m.recall("ns/a")
	require.Len(t, a.failed, maxFailedNodes)
	require.Equal(t, "n1", a.failed[0], "the oldest is forgotten first")
	m.succeeded("ns/a")
	a, _ = m.recall("ns/a")
	require.Empty(t, a.failed)
	b, _ := m.recall("ns/b")
	require.Equal(t, []string{"n9"}, b.failed)
}

func TestMemoryForgetsJobsThatWereNotSeenForLong(t *testing.T) {
	m := newMemory()
	job := func(i int) api.JobID { return api.JobID(fmt.Sprintf("ns/%d", i)) }
	for i := range maxPasts {
		m.placed(job(i), "p", "n")
	}
	require.Len(t, m.pasts, maxPasts)
	m.recall(job(0))
	m.failed(job(maxPasts), "n")
	require.Len(t, m.pasts, maxPasts*9/10)
	require.True(t, m.knows(job(0)), "it was asked about lately")
	require.True(t, m.knows(job(maxPasts)))
	require.False(t, m.knows(job(1)))
	require.False(t, m.knows(job(maxPasts/10+1)))
	require.True(t, m.knows(job(maxPasts/10+2)))
	require.Equal(t, maxPasts*9/10-1, m.pods)
}

func TestMemoryOfPodsIsBounded(t *testing.T) {
	m := newMemory()
	for j := range 3 {
		for i := range maxPastPods / 2 {
			m.placed(api.JobID(fmt.Sprintf("ns/%d", j)), strconv.Itoa(i), "n")
		}
	}
	require.False(t, m.knows("ns/0"))
	require.True(t, m.knows("ns/1"))
	require.Equal(t, maxPastPods, m.pods)
	for i := range maxPastPods + 1 {
		m.placed("ns/2", strconv.Itoa(i), "n")
	}
	require.False(t, m.knows("ns/1"))
	require.True(t, m.knows("ns/2"), "the job that is seen now stays")
	require.Equal(t, maxPastPods+1, m.pods)
}

func TestMemoryOfPodsThatAreNoMore(t *testing.T) {
	m := newMemory()
	job := &api.JobInfo{UID: "ns/a", Tasks: map[api.TaskID]*api.TaskInfo{"u": {UID: "u", Name: "a-17"}, "v": {UID: "v", Name: "a-99"}}}
	m.prune(job)
	for i := range 20 {
		m.placed("ns/a", fmt.Sprintf("a-%d", i), "n")
	}
	m.prune(job)
	require.Len(t, m.pasts["ns/a"].nodes, 20, "a few may come again")
	m.placed("ns/a", "a-20", "n")
	m.prune(job)
	require.Equal(t, map[string]string{"a-17": "n"}, m.pasts["ns/a"].nodes)
	require.Equal(t, 1, m.pods)
}
