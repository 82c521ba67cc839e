// SPDX-License-Identifier: Apache-2.0

package times

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// entry is of a request that took a tenth of a second and was answered at a second after epoch.
func entry(second float64, user, verb, resource, sub, name, body string) *auditv1.Event {
	done := epoch.Add(time.Duration(second * float64(time.Second)))
	e := &auditv1.Event{
		Verb: verb, ObjectRef: &auditv1.ObjectReference{Namespace: "ns", Resource: resource, Subresource: sub, Name: name},
		ResponseStatus:           &metav1.Status{Code: 201},
		RequestReceivedTimestamp: metav1.NewMicroTime(done.Add(-100 * time.Millisecond)), StageTimestamp: metav1.NewMicroTime(done),
	}
	e.User.Username = user
	if body != "" {
		e.RequestObject = &runtime.Unknown{Raw: []byte(body)}
	}
	return e
}

func bound(second float64, pod string) *auditv1.Event {
	return entry(second, "scheduler", "create", "pods", "binding", pod, `{"target":{"kind":"Node","name":"n"}}`)
}

// twoGangs returns two gangs of two pods: created within 2 s, read about until 4 s, bound until 8 s, running until 12 s.
func twoGangs() *History {
	s := New("ns")
	for i, pod := range []string{"g1-0", "g1-1", "g2-0", "g2-1"} {
		s.See(entry(float64(i)/2+0.6, "admin", "create", "pods", "", pod, ""))
	}
	s.Watch("scheduler")
	s.See(entry(3.1, "scheduler", "list", "nodes", "", "", ""))
	s.See(entry(4, "scheduler", "list", "pods", "", "", ""))
	s.See(entry(4.5, "scheduler", "update", "podgroups", "", "g1", "{}"))
	s.See(bound(5, "g1-0"))
	s.See(bound(5, "g1-1"))
	conflict := bound(5.5, "g2-1")
	conflict.ResponseStatus.Code = 409
	s.See(conflict)
	s.See(entry(6, "scheduler", "list", "pods", "", "", ""))
	s.See(bound(7, "g2-0"))
	s.See(bound(8, "g2-1"))
	s.See(entry(9, "scheduler", "create", "events", "", "g2-1.1", "{}"))
	for i, pod := range []string{"g1-0", "g1-1", "g2-0", "g2-1"} {
		s.See(entry(8, "kwok", "patch", "pods", "status", pod, `{"status":{"phase":"Pending","podIP":"10.0.0.1"}}`))
		s.See(entry(float64(9+i), "kwok", "patch", "pods", "status", pod, `{"status":{"phase":"Running"}}`))
	}
	return s
}

func TestWork(t *testing.T) {
	t.Parallel()
	s := twoGangs()
	require.Equal(t, []int{4, 4, 4}, []int{s.Created, s.Bound, s.Running})
	s.See(entry(15, "kwok", "patch", "pods", "status", "g1-0", `{"status":{"phase":"Succeeded"}}`))
	s.See(entry(15, "scheduler", "create", "configmaps", "", "g1", "{}"))
	s.See(entry(15, "else", "create", "configmaps", "", "g2", "{}"))
	require.Equal(t, []int{4, 1, 1}, []int{s.Addressed, s.Ended, s.Environments})
	f := s.Work() // begins at 3.0, when the first list arrived
	require.InDelta(t, 4/1.6, f.Created, 1e-6)
	require.InDelta(t, 5, f.Seconds, 1e-6)
	require.InDelta(t, 4/5.0, f.Bound, 1e-6)
	require.InDelta(t, 1, f.Read, 1e-6)
	require.InDelta(t, 1, f.BoundAfter, 1e-6)
	require.InDelta(t, 4/11.5, f.Running, 1e-6)
	require.InDeltaMapValues(t, map[string]float64{"p50": 2, "p99": 5, "max": 5},
		map[string]float64{"p50": f.GangWait.P50, "p99": f.GangWait.P99, "max": f.GangWait.Max}, 1e-6)
	require.InDeltaSlice(t, []float64{0, 1, 1}, []float64{f.PartlyBound.P50, f.PartlyBound.P99, f.PartlyBound.Max}, 1e-6)
}

func TestWhole(t *testing.T) {
	t.Parallel()
	f := twoGangs().Whole() // begins at 0.5
	require.InDelta(t, 7.5, f.Seconds, 1e-6)
	require.InDelta(t, 5-1.1, f.GangWait.P50, 1e-6)
	require.InDelta(t, 8-2.1, f.GangWait.P99, 1e-6)
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	stages := twoGangs().Timeline() // begins at 0.5
	for i := range stages {
		for _, seconds := range []*float64{&stages[i].P10, &stages[i].P50, &stages[i].P90, &stages[i].Last} {
			*seconds = math.Round(*seconds*10) / 10
		}
	}
	require.Equal(t, []Stage{
		{What: "pods created", Count: 4, P10: 0.1, P50: 0.6, P90: 1.6, Last: 1.6},
		{What: "pods bound", Count: 4, P10: 4.5, P50: 4.5, P90: 7.5, Last: 7.5},
		{What: "pods have an IP", Count: 4, P10: 7.5, P50: 7.5, P90: 7.5, Last: 7.5},
		{What: "pods running", Count: 4, P10: 8.5, P50: 9.5, P90: 11.5, Last: 11.5},
	}, stages)
}

// Two programs place the pods: the work begins with the first request of either. What the API server names itself is not counted.
func TestSeveralUsersPlacePods(t *testing.T) {
	t.Parallel()
	s := New("ns")
	s.See(entry(1, "admin", "create", "pods", "", "", ""))
	s.Watch("scheduler", "binder")
	s.See(entry(2, "scheduler", "create", "bindrequests", "", "g1-0", ""))
	e := bound(4, "g1-0")
	e.User.Username = "binder"
	s.See(e)
	require.Equal(t, []int{0, 1}, []int{s.Created, s.Bound})
	require.Len(t, s.Writes(), 2)
	require.InDelta(t, 2.1, s.Work().Seconds, 1e-6)
}

func TestWritesUntilTheLastBinding(t *testing.T) {
	t.Parallel()
	s := twoGangs()
	var names []string
	for _, e := range s.Writes() {
		names = append(names, e.Verb+" "+e.ObjectRef.Name)
	}
	require.Equal(t, []string{"update g1", "create g1-0", "create g1-1", "create g2-0", "create g2-1"}, names)
	require.Equal(t, 1, s.Late())
	require.Equal(t, map[string]int{
		"list nodes": 1, "list pods": 2, "update podgroups": 1, "create pods/binding": 5, "create events": 1,
	}, s.Calls()["scheduler"])
	require.NotContains(t, s.Calls(), "admin", "what came before Watch")
}

func TestPlacedAndFreed(t *testing.T) {
	t.Parallel()
	s := twoGangs()
	require.Equal(t, epoch.Add(8*time.Second), s.Placed("g2"))
	require.Zero(t, s.Placed("g3"))
	s.See(entry(20, "admin", "delete", "pods", "", "g2-0", ""))
	require.Zero(t, s.Freed("g2"), "one is still there")
	s.See(entry(21, "admin", "delete", "pods", "", "g2-1", ""))
	require.Equal(t, epoch.Add(21*time.Second), s.Freed("g2"))
}

func TestOthersNamespacesAreNotSeen(t *testing.T) {
	t.Parallel()
	s := New("other")
	s.See(bound(1, "g1-0"))
	s.See(&auditv1.Event{Verb: "get"})
	require.Empty(t, s.Pods)
	require.Zero(t, s.Whole())
}

func TestWaitOf(t *testing.T) {
	t.Parallel()
	require.Zero(t, WaitOf(nil))
	require.Equal(t, Wait{P50: 1, P99: 2, Max: 2}, WaitOf([]float64{2, 1}))
	var hundred []float64
	for i := range 200 {
		hundred = append(hundred, float64(200-i))
	}
	require.Equal(t, Wait{P50: 100, P99: 198, Max: 200}, WaitOf(hundred))
}
