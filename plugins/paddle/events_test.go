// SPDX-License-Identifier: Apache-2.0

package paddle

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"volcano.sh/apis/pkg/apis/scheduling"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// groupWith is a PodGroup with the plugin's condition, unless that is empty.
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
			l := newEventLimiter()
			var sent []int
			for i, reason := range test.waits {
				l.startSession()
				if l.allow(groupWith(test.had), reason) {
					sent = append(sent, i)
				}
			}
			require.Equal(t, test.sent, sent)
		})
	}
}

func TestAllowPlaced(t *testing.T) {
	l := newEventLimiter()
	require.False(t, l.allowPlaced(groupWith(none)), "it never waited")
	require.True(t, l.allow(groupWith(none), report.InsufficientResources))
	require.True(t, l.allowPlaced(groupWith(none)))
	require.False(t, l.allowPlaced(groupWith(none)))
	require.True(t, newEventLimiter().allowPlaced(groupWith(waitingFor(report.InsufficientResources, ""))), "another scheduler reported that it waits")
}

func TestAllowInvalid(t *testing.T) {
	bad, worse := errors.New("bad"), errors.New("worse")
	l := newEventLimiter()
	for i, step := range []struct {
		err  error
		sent bool
	}{{nil, false}, {bad, true}, {bad, false}, {worse, true}, {nil, false}, {worse, true}} {
		l.startSession()
		require.Equal(t, step.sent, l.allowInvalid(groupWith(none), step.err), "session %d", i)
	}
}

func TestAllowWrite(t *testing.T) {
	l := newEventLimiter()
	a, b := waitingFor(report.InsufficientResources, "a"), waitingFor(report.InsufficientResources, "b")
	l.startSession()
	require.True(t, l.allowWrite(groupWith(none), a, false))
	require.False(t, l.allowWrite(groupWith(a), a, false))
	for range minWriteInterval - 1 {
		l.startSession()
		require.False(t, l.allowWrite(groupWith(a), b, false), "the reason is the same")
	}
	require.True(t, l.allowWrite(groupWith(a), b, true), "pods were placed")
	require.True(t, l.allowWrite(groupWith(a), waitingFor(report.QueueCapacity, "b"), false), "the reason is another")
	for range minWriteInterval {
		l.startSession()
		l.of(groupWith(none))
	}
	require.True(t, l.allowWrite(groupWith(waitingFor(report.QueueCapacity, "b")), waitingFor(report.QueueCapacity, "c"), false))
}

// Jobs come and go; what is remembered of them does not grow.
func TestEventLimiterForgetsJobs(t *testing.T) {
	l := newEventLimiter()
	for i := range 100 {
		l.startSession()
		group := groupWith(none)
		group.UID = types.UID(strconv.Itoa(i))
		l.allow(group, report.InsufficientResources)
		require.LessOrEqual(t, len(l.jobs)+len(l.last), 2)
	}
	l.startSession()
	l.startSession()
	require.Empty(t, l.jobs)
	require.Empty(t, l.last)
}

// Events reach the API server under a source of the plugin's own, on the PodGroup.
func TestEventsAreWrittenToTheServer(t *testing.T) {
	c := newCluster(t, shipped, podGroup("job", 4, twoTwo), pods("job", "ps", 2, nothing), pods("job", "worker", 2, resources{"cpu": "9"}),
		node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	watch, err := c.cache.Client().CoreV1().Events("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	c.session()
	event, ok := (<-watch.ResultChan()).Object.(*corev1.Event)
	require.True(t, ok)
	require.Equal(t, corev1.EventSource{Component: "volcano-paddle"}, event.Source)
	require.Equal(t, corev1.ObjectReference{
		Kind: "PodGroup", APIVersion: "scheduling.volcano.sh/v1beta1", Namespace: namespace, Name: "job", UID: "job",
	}, event.InvolvedObject)
	require.Equal(t, "Warning InsufficientResources the cluster has room for 8 of the 18 CPUs that the job's missing pods ask for",
		event.Type+" "+event.Reason+" "+event.Message)
}

// Reasons that change each second make few events about one PodGroup. That it is placed is sent, and so are events about others.
func TestEventsAboutOneJobAreBounded(t *testing.T) {
	c := newCluster(t, shipped, node("n1", resources{"cpu": "8", "memory": "8Gi"}))
	watch, err := c.cache.Client().CoreV1().Events("").Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer watch.Stop()
	ssn, p := c.open()
	one, other := paddleJob(t, "one", 0), paddleJob(t, "other", 0)
	one.PodGroup.UID, other.PodGroup.UID = "one", "other"
	for i := range 100 {
		p.state.events.record(ssn, one, []report.Reason{report.InsufficientResources, report.QueueCapacity}[i%2], fmt.Sprintf("%d GPUs", i))
	}
	p.state.events.record(ssn, one, report.Placed, "2 nodes")
	p.state.events.record(ssn, other, report.QueueClosed, "closed")
	sent := 0
	for {
		event, ok := (<-watch.ResultChan()).Object.(*corev1.Event)
		require.True(t, ok)
		if event.Reason == string(report.QueueClosed) {
			break
		}
		sent++
	}
	require.Equal(t, eventBurst+1, sent, "warnings, and one that the job is placed")
}

func TestEventTypes(t *testing.T) {
	l := newEventLimiter()
	recorder := record.NewFakeRecorder(10)
	l.recorder = recorder
	job := paddleJob(t, "job", 0)
	for reason, want := range map[report.Reason]string{
		report.InsufficientResources: "Warning InsufficientResources text", report.QueueClosed: "Warning QueueClosed text", report.Placed: "Normal Placed text",
	} {
		l.record(nil, job, reason, "text")
		require.Equal(t, want, <-recorder.Events)
	}
	l.record(nil, job, report.InsufficientResources, strings.Repeat("100% ", 999))
	require.LessOrEqual(t, len(<-recorder.Events), len("Warning InsufficientResources ")+maxEventMessage)
}

func TestAnInvalidAnnotationIsAnEventAndTheDefaultHolds(t *testing.T) {
	group := podGroup("j", 2, map[string]int32{"worker": 2})
	group.Annotations = map[string]string{colocationAnnotation: "close"}
	c := newCluster(t, shipped, gpuNode("n1", "r1", 2), group, pods("j", "worker", 2, onGPU))
	events := c.listen()
	c.session()
	c.session()
	require.Equal(t, []string{"Warning InvalidAnnotation annotation batch.paddlepaddle.org/colocation is \"close\"; " +
		"write Required, Preferred or None; the default holds"}, events())
	require.Equal(t, map[string]string{"j-worker-0": "n1", "j-worker-1": "n1"}, c.nodes())
}
