// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func backoff(limit int32) change {
	return runs(func(run *v1.RunPolicy) { run.BackoffLimit = ptr(limit) })
}

// The first restart comes at once, the second after ten seconds, and the third failure is the last.
func TestBackoffLimit(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "again", backoff(2), workersRunFor("1s"), workersFail("7", "")))
	first := awaitVolcanoJob(t, job, nil)
	environment := awaitEnvironment(t, job, "")
	delayed := awaitJob(t, job, "delayed", func(job *v1.PaddleJob) bool {
		c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionRestarting)
		return job.Status.Failures == 2 && c != nil && c.Reason == "PodFailed" && job.Status.Phase == v1.Restarting
	})
	require.True(t, meta.IsStatusConditionFalse(delayed.Status.Conditions, v1.ConditionStalled))
	awaitNoPodGroups(t, job.Namespace)
	require.NotEqual(t, environment.UID, awaitEnvironment(t, job, environment.Annotations[v1.GangAnnotation]).UID)

	failed := awaitPhase(t, job, v1.Failed)
	require.Regexp(t, "^BackoffLimitExceeded: again-worker-[01] exited with code 7; the job had been restarted twice before", failedReason(failed))
	require.EqualValues(t, 2, failed.Status.Restarts)
	require.Equal(t, first.UID, awaitVolcanoJob(t, job, nil).UID, "the scheduler knows the gang by it")
	require.Regexp(t, `^restart [12] of 2: again-worker-[01] exited with code 7; the job starts again `, awaitEvent(t, job, corev1.EventTypeWarning, "Restarting"))
	awaitNoPodGroups(t, job.Namespace)
	awaitSyncs(t, 5)
	require.GreaterOrEqual(t, failed.Status.CompletionTime.Sub(failed.CreationTimestamp.Time).Seconds(), 10.0)
}

func TestNoBackoffMeansNoRestart(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "once", backoff(0), workersRunFor("1s"), workersFail("7", "")))
	failed := awaitPhase(t, job, v1.Failed)
	require.Regexp(t, "^BackoffLimitExceeded", failedReason(failed))
	require.Zero(t, failed.Status.Restarts)
}

// An eviction is followed by a start at once, and never counts, also where no failure may be followed by a start.
func TestEvictionDoesNotCountForTheBackoffLimit(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "evicted", backoff(0)))
	for restarts := range int32(4) {
		awaitRestarted(t, job, restarts)
		require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "evicted-worker-0", metav1.DeleteOptions{}))
	}
	require.Zero(t, awaitRestarted(t, job, 4).Status.Failures)
	require.Equal(t, "restart 1: evicted-worker-0 was deleted or evicted", awaitEvent(t, job, corev1.EventTypeWarning, "Restarting"))
}

// The controller follows a command that a user gives Volcano for the Volcano Job.
func TestCommandsByHand(t *testing.T) {
	t.Parallel()
	for action, await := range map[string]func(*testing.T, *v1.PaddleJob){
		"AbortJob":   func(t *testing.T, job *v1.PaddleJob) { awaitAborted(t, job) },
		"RestartJob": func(t *testing.T, job *v1.PaddleJob) { require.Zero(t, awaitRestarted(t, job, 1).Status.Failures) },
		"TerminateJob": func(t *testing.T, job *v1.PaddleJob) {
			require.Regexp(t, "^Terminated: ", failedReason(awaitPhase(t, job, v1.Failed)))
		},
		"CompleteJob": func(t *testing.T, job *v1.PaddleJob) {
			awaitPhase(t, job, v1.Completed)
			awaitCondition(t, job, v1.ConditionSucceeded, metav1.ConditionTrue, "VolcanoJobCompleted")
		},
	} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "commanded", backoff(5)))
			awaitPhase(t, job, v1.Running)
			command(t, awaitVolcanoJob(t, job, nil), action)
			await(t, job)
		})
	}
}

func TestPermanentExitCode(t *testing.T) {
	t.Parallel()
	permanent := runs(func(run *v1.RunPolicy) { run.PermanentExitCodes = []int32{3, 42} })
	for name, scope := range map[string]v1.RestartScope{"gang": v1.RestartGang, "pod": v1.RestartPod} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "wrong", permanent, workersRunFor("1s"), workersFail("42", ""),
				runs(func(run *v1.RunPolicy) { run.RestartScope = scope })))
			failed := awaitPhase(t, job, v1.Failed)
			require.Regexp(t, "^PermanentExitCode: wrong-worker-[01] exited with code 42", failedReason(failed))
			require.Zero(t, failed.Status.Restarts)
		})
	}
	t.Run("another code", func(t *testing.T) {
		t.Parallel()
		job := create(t, psJob(cluster.Namespace(t), "other", permanent, workersRunFor("1s"), workersFail("1", "0")))
		require.EqualValues(t, 1, awaitPhase(t, job, v1.Completed).Status.Restarts)
	})
}

// A worker that is evicted or fails starts again alone, in the gang's PodGroup.
func TestWorkerRestartsAlone(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "alone", runs(func(run *v1.RunPolicy) { run.RestartScope = v1.RestartPod })))
	awaitPhase(t, job, v1.Running)
	group, before := awaitPodGroup(t, job, nil), podUIDs(t, job.Namespace)
	again := func(name string) func(*v1.PaddleJob) bool {
		return func(job *v1.PaddleJob) bool {
			pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && pod.UID != before[name] && pod.Status.Phase == corev1.PodRunning && job.Status.Phase == v1.Running
		}
	}
	pods := cluster.Kube.CoreV1().Pods(job.Namespace)
	require.NoError(t, pods.Delete(t.Context(), "alone-worker-1", metav1.DeleteOptions{}))
	evicted := awaitJob(t, job, "running again", again("alone-worker-1"))
	require.Zero(t, evicted.Status.Failures)

	setPhase(t, job.Namespace, "alone-worker-0", corev1.PodFailed)
	failed := awaitJob(t, job, "running again", again("alone-worker-0"))
	require.EqualValues(t, 1, failed.Status.Failures)
	require.Zero(t, failed.Status.Restarts, "the gang keeps running")
	now := podUIDs(t, job.Namespace)
	require.Equal(t, before["alone-ps-0"], now["alone-ps-0"])
	require.Equal(t, before["alone-ps-1"], now["alone-ps-1"])
	require.Equal(t, group.UID, awaitPodGroup(t, job, nil).UID)

	require.NoError(t, pods.Delete(t.Context(), "alone-ps-1", metav1.DeleteOptions{}))
	awaitRestarted(t, job, 1)
	require.NotEqual(t, before["alone-ps-0"], podUIDs(t, job.Namespace)["alone-ps-0"], "a server takes the gang with it")
}
