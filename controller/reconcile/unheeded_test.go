// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// A Volcano that is away will do what it was told; one that reads commands and does nothing does not know the Volcano Job.
func TestVolcanoHasForgottenAVolcanoJob(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	now := epoch
	d.now = func() time.Time { return now }
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	d.workerPod(t, corev1.PodStatus{Phase: corev1.PodSucceeded})
	commands := d.volcano.BusV1alpha1().Commands("ml")
	pass := func(howLong time.Duration, reads bool) {
		t.Helper()
		for end := now.Add(howLong); now.Before(end); now = now.Add(16 * time.Second) {
			if reads {
				list, err := commands.List(t.Context(), metav1.ListOptions{})
				require.NoError(t, err)
				for i := range list.Items {
					require.NoError(t, commands.Delete(t.Context(), list.Items[i].Name, metav1.DeleteOptions{}))
				}
			}
			job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
			require.NoError(t, err)
			d.cached(t, job)
			d.cachedVolcanoJob(t, vcbatch.Running)
			require.NoError(t, d.work(t))
		}
	}
	pass(10*time.Minute, false)
	require.NotEqual(t, v1.Completed, d.status(t).Phase, "it does not read")
	pass(4*time.Minute, true)
	require.NotEqual(t, v1.Completed, d.status(t).Phase, "it has read for less than five minutes")
	pass(2*time.Minute, true)
	require.Equal(t, v1.Completed, d.status(t).Phase)
	require.True(t, d.status(t).CompletionTime.After(epoch.Add(14*time.Minute)), "not when it began to run")

	job, err := d.volcano.BatchV1alpha1().Jobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	d.volcanoJobChanged(job, true)
	require.Empty(t, d.unheeded.seen)
}
