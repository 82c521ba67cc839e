// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

func TestPace(t *testing.T) {
	t.Parallel()
	// ended is a job whose worker ended at epoch, and that Volcano brought into a phase so much later.
	ended := func(phase vcbatch.JobPhase, took, seen time.Duration) *view.View {
		return endedAt(phase, epoch, epoch.Add(took), epoch.Add(seen))
	}
	p := &pace{}
	at := func(later time.Duration) time.Duration { return p.of(epoch.Add(later)).Slowest }
	require.Zero(t, p.of(epoch))
	p.see(ended(vcbatch.Running, time.Hour, time.Hour))
	p.see(&view.View{Now: epoch})
	require.Zero(t, at(time.Hour), "not ended")
	p.see(ended(vcbatch.Completing, 20*time.Second, 20*time.Second))
	require.Equal(t, 20*time.Second, at(time.Minute))
	p.see(ended(vcbatch.Completed, 10*time.Second, time.Minute))
	require.Equal(t, 20*time.Second, at(time.Minute), "the longest")
	p.see(ended(vcbatch.Completed, time.Minute, time.Minute))
	require.Equal(t, time.Minute, at(2*time.Minute))
	p.see(ended(vcbatch.Completed, 2*time.Minute, 8*time.Minute))
	require.Equal(t, time.Minute, at(6*time.Minute), "long ago, seen by a controller that has just started")
	require.Zero(t, at(7*time.Minute), "that was long ago")
	p.see(ended(vcbatch.Completed, 4*time.Second, 5*time.Minute))
	require.Equal(t, time.Minute, at(5*time.Minute))
	p.slowestAt = epoch.Add(-time.Hour)
	p.see(ended(vcbatch.Completed, 4*time.Second, 5*time.Minute))
	require.Equal(t, 4*time.Second, at(5*time.Minute))
	p.see(ended(vcbatch.Completed, -time.Second, time.Minute))
	require.Equal(t, 4*time.Second, at(5*time.Minute), "clocks differ")
}

func TestPaceKnowsTheLatest(t *testing.T) {
	t.Parallel()
	p := &pace{}
	for _, of := range []struct{ workers, volcano int }{{10, 40}, {30, 35}, {20, 50}, {5, 45}} {
		after := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
		p.see(endedAt(vcbatch.Completing, after(of.workers), after(of.volcano), after(60)))
	}
	require.Equal(t, view.Ends{
		Slowest: 40 * time.Second, Last: epoch.Add(50 * time.Second), Newest: epoch.Add(30 * time.Second),
	}, p.of(epoch.Add(time.Minute)))
	require.Equal(t, view.Ends{Last: epoch.Add(50 * time.Second), Newest: epoch.Add(30 * time.Second)}, p.of(epoch.Add(time.Hour)))
}

// endedAt is a job, seen at a time, that Volcano brought into a phase some time after its worker had ended.
func endedAt(phase vcbatch.JobPhase, workers, volcano, seen time.Time) *view.View {
	v := &view.View{Now: seen, VolcanoJob: &vcbatch.Job{}, Pods: []*corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{vcbatch.TaskSpecKey: "worker"}},
		Status: corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: []corev1.ContainerStatus{{
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{FinishedAt: metav1.NewTime(workers)}},
		}}},
	}}}
	v.VolcanoJob.Status.State = vcbatch.JobState{Phase: phase, LastTransitionTime: metav1.NewTime(volcano)}
	return v
}
