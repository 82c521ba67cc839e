// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"volcano.sh/volcano/pkg/scheduler/api"
)

func TestHistory_Placements(t *testing.T) {
	m := New()
	_, ok := m.Get("ns/a")
	require.False(t, ok)
	require.False(t, m.knows("ns/a"), "Get adds no record")
	m.recordPlacement("ns/a", "a-0", "n1")
	m.recordPlacement("ns/a", "a-1", "n1")
	m.recordPlacement("ns/b", "b-0", "n3")
	m.recordPlacement("ns/a", "a-0", "n2")
	a, ok := m.Get("ns/a")
	require.True(t, ok)
	require.Equal(t, map[string]string{"a-0": "n2", "a-1": "n1"}, a.Nodes)
	a.Nodes["a-1"] = "changed"
	a, _ = m.Get("ns/a")
	require.Equal(t, "n1", a.Nodes["a-1"], "Get returns a copy")
}

func TestHistory_Failures(t *testing.T) {
	m := New()
	m.recordSuccess("ns/a")
	require.False(t, m.knows("ns/a"), "a success adds no record")
	m.RecordFailure("ns/a", "n1")
	m.RecordFailure("ns/a", "n2")
	m.RecordFailure("ns/a", "n1")
	m.RecordFailure("ns/b", "n9")
	a, _ := m.Get("ns/a")
	require.Equal(t, []string{"n2", "n1"}, a.FailedNodes)
	for i := range maxFailedNodes - 1 {
		m.RecordFailure("ns/a", fmt.Sprintf("m%d", i))
	}
	a, _ = m.Get("ns/a")
	require.Len(t, a.FailedNodes, maxFailedNodes)
	require.Equal(t, "n1", a.FailedNodes[0], "the oldest is forgotten first")
	m.recordSuccess("ns/a")
	a, _ = m.Get("ns/a")
	require.Empty(t, a.FailedNodes)
	b, _ := m.Get("ns/b")
	require.Equal(t, []string{"n9"}, b.FailedNodes)
}

func TestHistory_ForgetsTheLeastRecentlyUsedJob(t *testing.T) {
	m := New()
	job := func(i int) api.JobID { return api.JobID(fmt.Sprintf("ns/%d", i)) }
	for i := range maxJobs {
		m.recordPlacement(job(i), "p", "n")
	}
	m.Get(job(0))
	m.RecordFailure(job(maxJobs), "n")
	require.Equal(t, maxJobs, m.jobs.Len())
	require.True(t, m.knows(job(0)))
	require.True(t, m.knows(job(maxJobs)))
	require.False(t, m.knows(job(1)))
}

func TestHistory_Prune(t *testing.T) {
	m := New()
	job := &api.JobInfo{UID: "ns/a", Tasks: map[api.TaskID]*api.TaskInfo{"u": {UID: "u", Name: "a-17"}, "v": {UID: "v", Name: "a-99"}}}
	m.prune(job)
	for i := range 20 {
		m.recordPlacement("ns/a", fmt.Sprintf("a-%d", i), "n")
	}
	m.prune(job)
	had, _ := m.Get("ns/a")
	require.Len(t, had.Nodes, 20, "a few may come again")
	m.recordPlacement("ns/a", "a-20", "n")
	m.prune(job)
	had, _ = m.Get("ns/a")
	require.Equal(t, map[string]string{"a-17": "n"}, had.Nodes)
}
