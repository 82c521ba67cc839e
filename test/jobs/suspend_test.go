// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func TestSuspendedJobRunsAgainWhenItIsResumed(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "rests", runs(func(run *v1.RunPolicy) { run.BackoffLimit = new(int32) })))
	running := awaitPhase(t, job, v1.Running)
	first := awaitVolcanoJob(t, job, nil)

	edit(t, job, suspend(true))
	awaitPhase(t, job, v1.Suspended)
	awaitCondition(t, job, v1.ConditionSuspended, metav1.ConditionTrue, "Suspended")
	awaitPods(t, job, nil)
	awaitNoPodGroups(t, job.Namespace)
	now, err := objects(t.Context(), job.Namespace)
	require.NoError(t, err)
	require.NotContains(t, now, "ConfigMap rests")
	require.NotContains(t, now, "Job rests")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)

	edit(t, job, suspend(false))
	second := awaitVolcanoJob(t, job, first)
	require.NotEqual(t, first.UID, second.UID)
	again := awaitPhase(t, job, v1.Running)
	require.True(t, meta.IsStatusConditionFalse(again.Status.Conditions, v1.ConditionSuspended))
	require.Equal(t, running.Status.StartTime, again.Status.StartTime)
	require.Zero(t, again.Status.Restarts, "a suspension is no failure")
	require.EqualValues(t, 1, again.Status.Recreations)
	awaitEvent(t, job, corev1.EventTypeNormal, "Suspended")
	awaitEvent(t, job, corev1.EventTypeNormal, "Resumed")
}

func TestJobThatIsCreatedSuspendedMakesNothing(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "waits", suspend(true), workersRunFor("1s")))
	awaitPhase(t, job, v1.Suspended)
	awaitSyncs(t, 5)
	now, err := objects(t.Context(), job.Namespace)
	require.NoError(t, err)
	require.NotContains(t, now, "Job waits")
	require.NotContains(t, now, "ConfigMap waits")

	edit(t, job, suspend(false))
	done := awaitPhase(t, job, v1.Completed)
	require.Zero(t, done.Status.Recreations)
}

// However often somebody changes their mind, and whenever, what stands in the end is one whole gang.
func TestSuspendBackAndForth(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "wavers"))
	for range 4 {
		edit(t, job, suspend(true))
		edit(t, job, suspend(false))
		awaitJob(t, job, "seen", func(job *v1.PaddleJob) bool { return job.Status.ObservedGeneration == job.Generation })
	}
	edit(t, job, suspend(true))
	awaitPhase(t, job, v1.Suspended)
	edit(t, job, suspend(false))
	last := awaitPhase(t, job, v1.Running)
	require.Zero(t, last.Status.Restarts)
	awaitPods(t, job, []string{"wavers-ps-0", "wavers-ps-1", "wavers-worker-0", "wavers-worker-1"})
}

// The controller is away while the pods go, and again while the job is resumed.
func TestSuspendAndTheControllerIsKilled(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "rests"))
	running := awaitPhase(t, job, v1.Running)
	edit(t, job, suspend(true))
	awaitPhase(t, job, v1.Suspended)
	down(t, sandbox.Controller, syscall.SIGKILL)()
	awaitCondition(t, job, v1.ConditionSuspended, metav1.ConditionTrue, "Suspended")
	awaitPods(t, job, nil)

	start := down(t, sandbox.Controller, syscall.SIGKILL)
	edit(t, job, suspend(false))
	start()
	again := awaitPhase(t, job, v1.Running)
	require.Equal(t, running.Status.StartTime, again.Status.StartTime)
	require.EqualValues(t, 1, again.Status.Recreations)
	awaitPods(t, job, []string{"rests-ps-0", "rests-ps-1", "rests-worker-0", "rests-worker-1"})
}
