// SPDX-License-Identifier: Apache-2.0

package paddlejob

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
	"k8s.io/component-base/metrics/legacyregistry"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestKindOfError(t *testing.T) {
	t.Parallel()
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("no"))
	for want, err := range map[string]error{
		"Stale":     fmt.Errorf("writing: %w", errStale),
		"Forbidden": fmt.Errorf("creating: %w", forbidden),
		"Other":     errors.New("the line is dead"),
	} {
		require.Equal(t, want, kindOf(err))
	}
	require.Equal(t, "Forbidden", kindOf(rejectionOr(forbidden)), "a refusal keeps its cause")
}

// Of a counter that is not there before its first step, rate() does not see that step.
func TestCountersBeginAtZero(t *testing.T) {
	RegisterMetrics()
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	names := map[string]bool{}
	for _, family := range families {
		names[family.GetName()] = true
	}
	require.Contains(t, names, "paddlejob_controller_restarts_total")
	require.Contains(t, names, "paddlejob_controller_sync_errors_total")
}

func TestJobsByPhase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, phase := range map[string]v1.Phase{"new": "", "waits": v1.Pending, "runs": v1.Running} {
		d.cached(t, &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Status: v1.PaddleJobStatus{Phase: phase}})
	}
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(&phaseCollector{jobs: d.jobs})
	families, err := registry.Gather()
	require.NoError(t, err)
	require.Len(t, families, 1)
	counts := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		counts[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
	}
	require.Equal(t, map[string]float64{
		"Pending": 2, "Starting": 0, "Running": 1, "Restarting": 0, "Suspended": 0, "Completed": 0, "Failed": 0, "Terminating": 0,
	}, counts, "one that was not reconciled yet is Pending")
}

// sample is a metric's value, or the number of what a histogram has observed.
func sample(t *testing.T, name, label string) float64 {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() != name || (label != "" && m.GetLabel()[0].GetValue() != label) {
				continue
			}
			if h := m.GetHistogram(); h != nil {
				return float64(h.GetSampleCount())
			}
			return m.GetCounter().GetValue()
		}
	}
	return 0
}

// Not parallel: other tests' jobs are counted too.
func TestRecordStatus(t *testing.T) {
	RegisterMetrics()
	created := time.Date(2025, 11, 1, 12, 0, 0, 0, time.UTC)
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(created)}}
	condition := func(kind string, is metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: kind, Status: is, Reason: reason}}
	}
	running := &v1.PaddleJobStatus{StartTime: &metav1.Time{Time: created.Add(time.Minute)}}
	const histogram, counter = "paddlejob_controller_time_to_running_seconds", "paddlejob_controller_restarts_total"

	before := sample(t, histogram, "")
	recordStatus(job, &v1.PaddleJobStatus{}, running)
	require.InDelta(t, before+1, sample(t, histogram, ""), 0)
	recordStatus(job, running, running)
	rested := running.DeepCopy()
	rested.Conditions = condition(v1.ConditionSuspended, metav1.ConditionFalse, "Resumed")
	recordStatus(job, &v1.PaddleJobStatus{}, rested)
	require.InDelta(t, before+1, sample(t, histogram, ""), 0, "once, and none that was suspended")

	repeated := running.DeepCopy()
	repeated.Restarts, repeated.Conditions = 2, condition(v1.ConditionRestarting, metav1.ConditionTrue, "ForTheTest")
	recordStatus(job, running, repeated)
	recordStatus(job, repeated, repeated)
	require.InDelta(t, 2, sample(t, counter, "ForTheTest"), 0)
	over := repeated.DeepCopy()
	over.Restarts, over.Conditions[0].Status = 3, metav1.ConditionFalse
	unknown := sample(t, counter, "PodFailedOrEvicted")
	recordStatus(job, repeated, over)
	require.InDelta(t, unknown+1, sample(t, counter, "PodFailedOrEvicted"), 0)
}
