// SPDX-License-Identifier: Apache-2.0

package opponents

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/paddle-volcano/paddle-volcano/test/bench/trace/workload"
)

// quiet is a network over which nothing is sent.
type quiet struct{}

func (quiet) At(*workload.Job, Placement) (Traffic, error) { return quiet{}, nil }
func (quiet) Steps(all []Traffic) []float64                { return make([]float64, len(all)) }
func (quiet) Left(*workload.Job) float64                   { return 1 }
func (quiet) Busy() []Busy                                 { return nil }

func queue(t *testing.T, drawn string) *Queue {
	t.Helper()
	c := hosts(t, drawn)
	c.Network = quiet{}
	return NewQueue(c, Kueue(false))
}

func named(name string, age int, job *workload.Job) *workload.Job {
	job.Name, job.Age, job.ID = name, age, int(name[0])
	return job
}

func TestQueueIsInTheOrderOfCreationThenNames(t *testing.T) {
	q := queue(t, "8")
	last, first, second := named("a", 1, ring(3, 1)), named("c", 3, ring(3, 1)), named("b", 2, ring(5, 1))
	for _, job := range []*workload.Job{last, first, second} {
		q.Add(job)
	}
	require.NoError(t, q.Session())
	require.Len(t, q.Bound(first), 3)
	require.Len(t, q.Bound(second), 5)
	require.Empty(t, q.Bound(last))
	q.Remove(first)
	require.NoError(t, q.Session())
	require.Empty(t, q.Bound(last), "the second one counts twice in this session")
	require.NoError(t, q.Session())
	require.Equal(t, map[string]string{"a-worker-0": "host-00", "a-worker-1": "host-00", "a-worker-2": "host-00"}, q.Bound(last))
	require.Len(t, q.cluster.Running, 2)
}

// A job of 6 GPUs is enqueued, as 16 less 10 are left, but no host has capacity. So the job of 3 GPUs behind it is not, although a host
// has.
func TestAnEnqueuedJobKeepsOthersOut(t *testing.T) {
	q := queue(t, "8 8")
	one, two := named("a", 9, ring(1, 5)), named("b", 9, ring(1, 5))
	six, three := named("c", 8, ring(1, 6)), named("d", 7, ring(1, 3))
	for _, job := range []*workload.Job{one, two, six, three} {
		q.Add(job)
	}
	require.NoError(t, q.Session())
	require.Len(t, q.Bound(two), 1)
	require.Empty(t, q.Bound(six))
	require.Empty(t, q.Bound(three))
	q.Remove(one)
	require.NoError(t, q.Session())
	require.Equal(t, map[string]string{"c-worker-0": "host-00"}, q.Bound(six))
	require.Empty(t, q.Bound(three), "5 counts twice, and 6 and 3 do not fit next to it")
	require.NoError(t, q.Session())
	require.NoError(t, q.Session())
	require.Equal(t, map[string]string{"d-worker-0": "host-01"}, q.Bound(three), "5, 6 and 3 fit into 16")
}

// A job that is larger than what is left is not enqueued, and does not keep others out.
func TestAJobThatIsNotEnqueuedIsOvertaken(t *testing.T) {
	q := queue(t, "8 8")
	for _, job := range []*workload.Job{named("a", 9, ring(10, 1)), named("b", 8, ring(8, 1)), named("c", 7, ring(6, 1))} {
		q.Add(job)
	}
	require.NoError(t, q.Session())
	require.Len(t, q.placed, 2)
	require.NotContains(t, q.placed, int('b'))
}

func TestRulesThatAreWrongAreErrors(t *testing.T) {
	for want, at := range map[string]Placement{
		"1 roles are placed, of 2":                            {{0}},
		"3 pods of role worker are placed, of 2":              {{0}, {0, 0, 0}},
		"host host-01 has no capacity for a pod of role work": {{0}, {1, 1}},
	} {
		q := queue(t, "8 1")
		q.total.GPU = 16
		q.rule = func(*Cluster, *workload.Job) (Placement, error) { return at, nil }
		q.Add(servers(1, 2))
		require.ErrorContains(t, q.Session(), want)
	}
}
