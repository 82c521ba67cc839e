// SPDX-License-Identifier: Apache-2.0

package churn

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
	"github.com/paddle-volcano/paddle-volcano/test/bench/live/times"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
	"github.com/paddle-volcano/paddle-volcano/test/session/cluster"
	"github.com/paddle-volcano/paddle-volcano/test/stats"
)

func TestDrawOffersTheLoad(t *testing.T) {
	t.Parallel()
	for _, s := range []Settings{
		{1, 0.7, 4000, 30 * time.Minute, 8 * time.Minute}, {1, 0.9, 4000, 30 * time.Minute, 8 * time.Minute}, {2, 0.9, 4000, 30 * time.Minute, 8 * time.Minute},
		{1, 0.9, 4000, time.Minute, 8 * time.Minute}, {1, 0.7, 128, 20 * time.Second, 10 * time.Second}, {1, 0.9, 4000, time.Hour, time.Minute},
	} {
		jobs, err := Draw("s1j", s)
		require.NoError(t, err)
		again, err := Draw("s1j", s)
		require.NoError(t, err)
		require.Equal(t, jobs, again)
		offered, last, names, kinds := 0.0, time.Duration(0), map[string]bool{}, map[cluster.Mode]bool{}
		var halves [2]float64 // the GPU-seconds in each half of the window
		var runs []float64
		for i := range jobs {
			job := &jobs[i]
			require.GreaterOrEqual(t, job.Arrival, last, "in the order of arrival")
			require.Less(t, job.Arrival, s.Window)
			require.Positive(t, job.RunFor)
			require.NotContains(t, job.Name, "-", "pods are found by what comes before it")
			require.True(t, job.Arrival == 0 || !job.Before)
			last, names[job.Name], kinds[job.Mode] = job.Arrival, true, true
			end, gpus := min(job.Arrival+job.RunFor, s.Window), float64(job.Demand().GPU)
			offered += gpus * (end - job.Arrival).Seconds()
			middle := s.Window / 2
			halves[0] += gpus * max(0, min(end, middle)-job.Arrival).Seconds()
			halves[1] += gpus * max(0, end-max(job.Arrival, middle)).Seconds()
			if !job.Before {
				runs = append(runs, job.RunFor.Seconds())
			}
			for _, role := range job.Roles {
				require.Equal(t, job.Before || role.Task == cluster.ServerTask, role.Annotations[stages.AnnotationRunFor] == "forever")
			}
			if job.Mode != cluster.Other {
				require.Empty(t, validation.Validate(job.PaddleJob(), builder.PodGroupOverrides{}, builder.Config{}))
			}
		}
		require.Len(t, names, len(jobs))
		capacity := float64(s.GPUs) * s.Window.Seconds()
		require.InEpsilon(t, s.Load, offered/capacity, 0.03, "%+v", s)
		if s.Window > 2*s.RunFor && s.GPUs == 4000 {
			require.InEpsilon(t, s.RunFor.Seconds(), stats.Mean(runs), 0.2, "%+v", s)
			require.InEpsilon(t, halves[0], halves[1], 0.25, "the load neither falls nor rises: %+v", s)
			require.Len(t, kinds, 3)
		}
	}
	_, err := Draw("s1j", Settings{Seed: 1, Load: 0.9, GPUs: 8, Window: time.Minute, RunFor: time.Minute})
	require.ErrorContains(t, err, "larger than the cluster")
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// entry is of a request that was answered at a second after epoch.
func entry(second float64, what, name, body string) *auditv1.Event {
	verb, resource, _ := strings.Cut(what, " ")
	resource, sub, _ := strings.Cut(resource, "/")
	done := metav1.NewMicroTime(epoch.Add(time.Duration(second * float64(time.Second))))
	e := &auditv1.Event{
		Verb: verb, ObjectRef: &auditv1.ObjectReference{Namespace: "ns", Resource: resource, Subresource: sub, Name: name},
		ResponseStatus: &metav1.Status{Code: 201}, RequestReceivedTimestamp: done, StageTimestamp: done,
	}
	if body != "" {
		e.RequestObject = &runtime.Unknown{Raw: []byte(body)}
	}
	return e
}

// On 16 GPUs in a window of 10 s from second 10 on: a pod of 2 GPUs was there before and is deleted at 14, a gang of a server and two
// workers of 4 GPUs arrives, is bound until 13 and ends at 15, a pod waits 1 s and runs on, and another one is not bound in time.
func TestSum(t *testing.T) {
	t.Parallel()
	one := func(name string, gpus int64) Job {
		return Job{Job: cluster.Ring(name, 1, cluster.Amounts{GPU: gpus})}
	}
	before := one("old", 2)
	before.Before = true
	gang := Job{Job: cluster.ServersAndWorkers("gang", 1, 2, cluster.Amounts{CPU: 1}, cluster.Amounts{GPU: 4})}
	jobs := []Job{before, gang, one("pod", 1), one("late", 1), one("lost", 1)}
	h := times.New("ns")
	scheduled := map[string]bool{}
	for _, e := range []*auditv1.Event{
		entry(1, "create pods", "old-worker-0", ""),
		entry(2, "create pods/binding", "old-worker-0", ""),
		entry(14, "delete pods", "old-worker-0", ""),
		entry(11, "create pods", "gang-ps-0", ""),
		entry(11, "create pods", "gang-worker-0", ""),
		entry(11.5, "create pods", "gang-worker-1", ""),
		entry(12, "create pods/binding", "gang-ps-0", ""),
		entry(13, "create pods/binding", "gang-worker-0", ""),
		entry(13, "create pods/binding", "gang-worker-1", ""),
		entry(13.1, "create events", "gang-ps-0.1", `{"reason":"Scheduled","involvedObject":{"name":"gang-ps-0"}}`),
		entry(13.1, "create events", "gang-worker-0.1", `{"reason":"Unschedulable","involvedObject":{"name":"gang-worker-0"}}`),
		entry(13.2, "patch events", "gang-worker-1.1", `{"reason":"Scheduled","involvedObject":{"name":"gang-worker-1"}}`),
		entry(15, "patch pods/status", "gang-worker-0", `{"status":{"phase":"Succeeded"}}`),
		entry(15, "patch pods/status", "gang-worker-1", `{"status":{"phase":"Succeeded"}}`),
		entry(16, "create pods", "pod-worker-0", ""),
		entry(17, "create pods/binding", "pod-worker-0", ""),
		entry(21, "create events", "pod-worker-0.1", `{"reason":"Scheduled","involvedObject":{"name":"pod-worker-0"}}`),
		entry(19, "create pods", "late-worker-0", ""),
		entry(20.5, "create pods/binding", "late-worker-0", ""),
	} {
		h.See(e)
		if pod := Scheduled(e); pod != "" {
			scheduled[pod] = true
		}
	}
	f := Sum(jobs, h.Pods, scheduled, epoch.Add(10*time.Second), epoch.Add(20*time.Second), 16)
	require.InDelta(t, (2*4+8*2+1*3)/160.0, f.Held, 1e-9)
	f.Held = 0
	require.Equal(t, Figures{
		Jobs: 4, Pods: 4, Bound: 0.4, GangWait: times.Wait{P50: 1.5, P99: 1.5, Max: 1.5}, PodWait: times.Wait{P50: 1, P99: 1, Max: 1}, Waiting: 2, Silent: 2,
	}, f)
	require.Equal(t, epoch.Add(15*time.Second), gang.Finished(h.Pods), "the server runs")
	require.Zero(t, jobs[2].Finished(h.Pods))
	require.Zero(t, jobs[4].Finished(h.Pods))
}

func TestDropped(t *testing.T) {
	t.Parallel()
	line := `E1127 event.go:468] "Unable to record event: too many queued events, dropped event" event="`
	n, err := Dropped(strings.NewReader("a\n" + line + strings.Repeat("x", 10000) + "\"\nI1127 bound\n" + line + `"`))
	require.NoError(t, err)
	require.Equal(t, 2, n)
}
