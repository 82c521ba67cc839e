// SPDX-License-Identifier: Apache-2.0

package volcano

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

func TestCompletionLatency(t *testing.T) {
	t.Parallel()
	epoch, p := at(0), &CompletionLatency{}
	// ended is that Volcano brought a job into a phase so much later than its last worker ended, which was at epoch.
	ended := func(phase vcbatch.JobPhase, took, seen time.Duration) {
		p.Observe(inPhase(phase, epoch.Add(took)), epoch, epoch.Add(seen))
	}
	slowest := func(later time.Duration) time.Duration { return p.Recent(epoch.Add(later)).Slowest }
	require.Zero(t, p.Recent(epoch))
	ended(vcbatch.Running, time.Hour, time.Hour)
	p.Observe(nil, epoch, epoch)
	require.Zero(t, slowest(time.Hour), "not ended")
	ended(vcbatch.Completing, 20*time.Second, 20*time.Second)
	require.Equal(t, 20*time.Second, slowest(time.Minute))
	ended(vcbatch.Completed, 10*time.Second, time.Minute)
	require.Equal(t, 20*time.Second, slowest(time.Minute), "the longest")
	ended(vcbatch.Completed, time.Minute, time.Minute)
	require.Equal(t, time.Minute, slowest(2*time.Minute))
	ended(vcbatch.Completed, 2*time.Minute, 8*time.Minute)
	require.Equal(t, time.Minute, slowest(6*time.Minute), "long ago, seen by a controller that has just started")
	require.Zero(t, slowest(7*time.Minute), "that was long ago")
	ended(vcbatch.Completed, 4*time.Second, 5*time.Minute)
	require.Equal(t, time.Minute, slowest(5*time.Minute))
	p.slowestAt = epoch.Add(-time.Hour)
	ended(vcbatch.Completed, 4*time.Second, 5*time.Minute)
	require.Equal(t, 4*time.Second, slowest(5*time.Minute))
	ended(vcbatch.Completed, -time.Second, time.Minute)
	require.Equal(t, 4*time.Second, slowest(5*time.Minute), "clocks differ")
}

func TestCompletionLatencyKnowsTheLatest(t *testing.T) {
	t.Parallel()
	epoch, p := at(0), &CompletionLatency{}
	for _, of := range []struct{ workers, volcano int }{{10, 40}, {30, 35}, {20, 50}, {5, 45}} {
		after := func(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }
		p.Observe(inPhase(vcbatch.Completing, after(of.volcano)), after(of.workers), after(60))
	}
	require.Equal(t, Completions{
		Slowest: 40 * time.Second, Last: epoch.Add(50 * time.Second), Newest: epoch.Add(30 * time.Second),
	}, p.Recent(epoch.Add(time.Minute)))
	require.Equal(t, Completions{Last: epoch.Add(50 * time.Second), Newest: epoch.Add(30 * time.Second)}, p.Recent(epoch.Add(time.Hour)))
}

// inPhase is a Volcano Job that came into a phase at a time.
func inPhase(phase vcbatch.JobPhase, since time.Time) *vcbatch.Job {
	job := &vcbatch.Job{}
	job.Status.State = vcbatch.JobState{Phase: phase, LastTransitionTime: metav1.NewTime(since)}
	return job
}
