// SPDX-License-Identifier: Apache-2.0

package reconcile

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// commands are the names of those that Volcano has not read.
func (d *desk) commands(t *testing.T) []string {
	t.Helper()
	list, err := d.volcano.BusV1alpha1().Commands("ml").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names
}

// seen puts the PaddleJob that the API server has into the cache, and its Volcano Job in a phase, and works once.
func (d *desk) seen(t *testing.T, phase vcbatch.JobPhase) *v1.PaddleJobStatus {
	t.Helper()
	job, err := d.paddle.BatchV1().PaddleJobs("ml").Get(t.Context(), "job", metav1.GetOptions{})
	require.NoError(t, err)
	d.assumedJobs.forget("ml/job")
	d.cached(t, job)
	d.cachedVolcanoJob(t, phase)
	require.NoError(t, d.work(t))
	return d.status(t)
}

// A controller that takes over knows from the status alone that an abortion is the controller's.
func TestAbortIsInTheStatusBefore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodFailed})

	require.Equal(t, v1.Restarting, d.seen(t, vcbatch.Running).Phase)
	require.Empty(t, d.commands(t), "the status comes first")
	d.seen(t, vcbatch.Running)
	require.Equal(t, []string{"abort-vc-0"}, d.commands(t))

	require.NoError(t, d.pods.Delete(pod)) // nobody else saw it
	counted := d.seen(t, vcbatch.Aborted)
	require.EqualValues(t, 1, counted.Restarts)
	require.True(t, meta.IsStatusConditionFalse(counted.Conditions, v1.ConditionStalled))
	d.seen(t, vcbatch.Aborted)
	require.Equal(t, []string{"abort-vc-0", "resume-vc-0"}, d.commands(t))
}

// What somebody aborted while no controller ran stays aborted, however the programs end that are told to.
func TestAbortByHandStays(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.cached(t, d.stored(t))
	require.NoError(t, d.work(t))
	pod := d.workerPod(t, corev1.PodStatus{Phase: corev1.PodRunning})
	require.Equal(t, v1.Running, d.seen(t, vcbatch.Running).Phase)

	ended := pod.DeepCopy()
	ended.Annotations[keys.OutOfSync] = "true"
	ended.DeletionTimestamp = &metav1.Time{Time: epoch}
	ended.Status.Phase = corev1.PodFailed
	require.NoError(t, d.pods.Update(ended))
	for _, phase := range []vcbatch.JobPhase{vcbatch.Aborting, vcbatch.Aborted, vcbatch.Aborted} {
		d.failures.see(ended, false)
		status := d.seen(t, phase)
		require.Equal(t, "Aborted", meta.FindStatusCondition(status.Conditions, v1.ConditionStalled).Reason)
		require.True(t, meta.IsStatusConditionTrue(status.Conditions, v1.ConditionStalled))
		require.Zero(t, status.Restarts)
	}
	require.NoError(t, d.pods.Delete(ended))
	require.True(t, meta.IsStatusConditionTrue(d.seen(t, vcbatch.Aborted).Conditions, v1.ConditionStalled))
	require.Empty(t, d.commands(t))
}
