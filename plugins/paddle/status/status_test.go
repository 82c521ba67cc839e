// SPDX-License-Identifier: Apache-2.0

package status

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	clocktesting "k8s.io/utils/clock/testing"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// groupWith returns a PodGroup with the plugin's condition, unless that is empty.
func groupWith(had scheduling.PodGroupCondition) *api.PodGroup {
	group := &api.PodGroup{}
	group.UID = "job"
	if had.Type != "" {
		group.Status.Conditions = append(group.Status.Conditions, had)
	}
	return group
}

func waitingFor(reason report.Reason, message string) scheduling.PodGroupCondition {
	return scheduling.PodGroupCondition{Type: conditionType, Status: corev1.ConditionFalse, Reason: string(reason), Message: message}
}

var none scheduling.PodGroupCondition

// repeated gives reasons in turn.
func repeated(n int, turns ...report.Reason) (all []report.Reason) {
	for i := range n {
		all = append(all, turns[i%len(turns)])
	}
	return all
}

func TestAllow_EachReasonOnce(t *testing.T) {
	const full, quota, noPods = report.InsufficientResources, report.QueueCapacity, report.WaitingForPods
	for _, test := range []struct {
		name  string
		had   scheduling.PodGroupCondition
		waits []report.Reason
		sent  []int
	}{
		{"once, however long it lasts", none, repeated(500, full), []int{0}},
		{"another reason", none, append(repeated(20, full), repeated(20, quota)...), []int{0, 20}},
		{"a transient reason", none, append(repeated(5, noPods), repeated(3, full)...), []int{5}},
		{"a transient reason between", none, append(append(repeated(20, full), repeated(5, noPods)...), repeated(9, full)...), []int{0}},
		{"after a restart", waitingFor(full, ""), repeated(100, full), nil},
		{"after a restart, for another reason", waitingFor(full, ""), repeated(100, quota), []int{0}},
		{"after a restart that a transient reason preceded", waitingFor(noPods, ""), repeated(100, quota), []int{0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := NewWriter()
			var sent []int
			for i, reason := range test.waits {
				w.StartSession()
				if w.allow(groupWith(test.had), reason) {
					sent = append(sent, i)
				}
			}
			require.Equal(t, test.sent, sent)
		})
	}
}

func TestAllowPlaced(t *testing.T) {
	w := NewWriter()
	require.False(t, w.allow(groupWith(none), report.Placed), "it never waited")
	require.True(t, w.allow(groupWith(none), report.InsufficientResources))
	require.True(t, w.allow(groupWith(none), report.Placed))
	require.False(t, w.allow(groupWith(none), report.Placed))
	require.True(t, NewWriter().allow(groupWith(waitingFor(report.InsufficientResources, "")), report.Placed), "another scheduler reported that it waits")
}

func TestAllowInvalid(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	w := NewWriter()
	for i, step := range []struct {
		err  error
		sent bool
	}{{nil, false}, {bad, true}, {bad, false}, {worse, true}, {nil, false}, {worse, true}} {
		w.StartSession()
		require.Equal(t, step.sent, w.allowInvalid(groupWith(none), step.err), "session %d", i)
	}
}

func TestAllowWrite(t *testing.T) {
	w := NewWriter()
	clock := clocktesting.NewFakePassiveClock(time.Now())
	w.Clock = clock
	a, b := waitingFor(report.InsufficientResources, "a"), waitingFor(report.InsufficientResources, "b")
	w.StartSession()
	require.True(t, w.allowWrite(groupWith(none), a, false))
	require.False(t, w.allowWrite(groupWith(a), a, false))
	for range 9 {
		clock.SetTime(clock.Now().Add(minWriteInterval / 10))
		w.StartSession()
		require.False(t, w.allowWrite(groupWith(a), b, false), "the reason is the same")
	}
	require.True(t, w.allowWrite(groupWith(a), b, true), "pods were placed")
	require.True(t, w.allowWrite(groupWith(a), waitingFor(report.QueueCapacity, "b"), false), "the reason is another")
	clock.SetTime(clock.Now().Add(minWriteInterval))
	w.StartSession()
	require.True(t, w.allowWrite(groupWith(waitingFor(report.QueueCapacity, "b")), waitingFor(report.QueueCapacity, "c"), false))
}

// Jobs come and go; what is remembered of them does not grow.
func TestWriterForgetsJobs(t *testing.T) {
	w := NewWriter()
	for i := range 100 {
		w.StartSession()
		group := groupWith(none)
		group.UID = types.UID(strconv.Itoa(i))
		w.allow(group, report.InsufficientResources)
		require.LessOrEqual(t, len(w.jobs)+len(w.last), 2)
	}
	w.StartSession()
	w.StartSession()
	require.Empty(t, w.jobs)
	require.Empty(t, w.last)
}

func TestEventTypes(t *testing.T) {
	w := NewWriter()
	recorder := record.NewFakeRecorder(10)
	w.Recorder = recorder
	job := api.NewJobInfo("ns/job")
	job.PodGroup = groupWith(none)
	for reason, want := range map[report.Reason]string{
		report.InsufficientResources: "Warning InsufficientResources text", report.QueueClosed: "Warning QueueClosed text", report.Placed: "Normal Placed text",
	} {
		w.record(nil, job, reason, "text")
		require.Equal(t, want, <-recorder.Events)
	}
	w.record(nil, job, report.InsufficientResources, strings.Repeat("100% ", 999))
	require.LessOrEqual(t, len(<-recorder.Events), len("Warning InsufficientResources ")+maxEventMessage)
}

func TestCondition(t *testing.T) {
	written := conditionFor(&report.Report{Reason: report.InsufficientResources, Message: "no capacity"})
	require.Equal(t, scheduling.PodGroupCondition{Type: "PaddleScheduled", Status: "False", Reason: "InsufficientResources", Message: "no capacity"}, written)
	placed := report.NewPlaced(nil, nil, false)
	require.Equal(t, corev1.ConditionTrue, conditionFor(&placed).Status)
	group := groupWith(written)
	group.Status.Conditions = append([]scheduling.PodGroupCondition{{Type: scheduling.PodGroupScheduled}}, group.Status.Conditions...)
	found, ok := Condition(group)
	require.True(t, ok)
	require.Equal(t, written, found)
	_, ok = Condition(groupWith(none))
	require.False(t, ok)
}
