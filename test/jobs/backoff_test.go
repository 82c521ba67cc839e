// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcbus "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
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
	require.NotEqual(t, environment.UID, awaitEnvironment(t, job, environment.Annotations[keys.Gang]).UID)

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

func TestBackoffLimitAndTheControllerIsDown(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "missed", backoff(1), workersRunFor("1s"), workersFail("7", "0")))
	vcjob := awaitVolcanoJob(t, job, nil)
	awaitEnvironment(t, job, "")
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	awaitPodPhase(t, job, "missed-worker-0", corev1.PodFailed)
	awaitPodPhase(t, job, "missed-worker-1", corev1.PodFailed)
	awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool { return job.Status.State.Phase == vcbatch.Running })
	start()
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 1, done.Status.Restarts)
	require.EqualValues(t, 1, done.Status.Failures)
}

func awaitPodPhase(t *testing.T, job *v1.PaddleJob, name string, phase corev1.PodPhase) {
	t.Helper()
	cluster.Await(t, "the pod "+name+" to be "+string(phase), func(ctx context.Context) error {
		pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && pod.Status.Phase != phase {
			err = fmt.Errorf("it is %s", pod.Status.Phase)
		}
		return err
	})
}

// An eviction is followed by a start at once, and never counts, also where no failure may be followed by a start.
func TestEvictionDoesNotCountForTheBackoffLimit(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "evicted", backoff(0)))
	for restarts := range int32(4) {
		awaitJob(t, job, "running", func(job *v1.PaddleJob) bool {
			return job.Status.Phase == v1.Running && job.Status.Restarts == restarts
		})
		require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "evicted-worker-0", metav1.DeleteOptions{}))
	}
	last := awaitJob(t, job, "running", func(job *v1.PaddleJob) bool { return job.Status.Phase == v1.Running && job.Status.Restarts == 4 })
	require.Zero(t, last.Status.Failures)
	require.Equal(t, "restart 1: evicted-worker-0 was deleted or evicted", awaitEvent(t, job, corev1.EventTypeWarning, "Restarting"))
}

// A program that is told to end may fail, and so may its peers, before its pod is gone. Nobody sees it here.
func TestEvictedProgramsFailWhileTheControllerIsDown(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "exits", backoff(0)))
	awaitPhase(t, job, v1.Running)
	vcjob := awaitVolcanoJob(t, job, nil)
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	pods := cluster.Kube.CoreV1().Pods(job.Namespace)
	update := func(name string, change func(*corev1.Pod)) {
		t.Helper()
		require.NoError(t, retry.RetryOnConflict(retry.DefaultRetry, func() error {
			pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			change(pod)
			_, err = pods.Update(t.Context(), pod, metav1.UpdateOptions{})
			return err
		}))
	}
	const stays = "paddle-volcano.test/stays"
	update("exits-worker-0", func(pod *corev1.Pod) { pod.Finalizers = append(pod.Finalizers, stays) })
	require.NoError(t, pods.Delete(t.Context(), "exits-worker-0", metav1.DeleteOptions{}))
	for _, name := range []string{"exits-worker-0", "exits-worker-1"} {
		patch := []byte(`{"status":{"phase":"Failed"}}`)
		_, err := pods.Patch(t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		require.NoError(t, err)
	}
	update("exits-worker-0", func(pod *corev1.Pod) { pod.Finalizers = nil })
	awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool {
		return job.Status.RetryCount == 1 && job.Status.State.Phase == vcbatch.Running
	})
	start()
	again := awaitJob(t, job, "running again", func(job *v1.PaddleJob) bool { return job.Status.Phase == v1.Running && job.Status.Restarts == 1 })
	require.Zero(t, again.Status.Failures)
}

// An eviction that nobody saw does not count either.
func TestEvictionWhileTheControllerIsDown(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "unseen", backoff(0)))
	awaitPhase(t, job, v1.Running)
	vcjob := awaitVolcanoJob(t, job, nil)
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "unseen-ps-0", metav1.DeleteOptions{}))
	awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool { return job.Status.RetryCount == 1 })
	start()
	again := awaitJob(t, job, "running again", func(job *v1.PaddleJob) bool { return job.Status.Phase == v1.Running && job.Status.Restarts == 1 })
	require.Zero(t, again.Status.Failures)
}

// command gives Volcano a command as vcctl does.
func command(t *testing.T, vcjob *vcbatch.Job, action string) {
	t.Helper()
	owner := metav1.NewControllerRef(vcjob, vcbatch.SchemeGroupVersion.WithKind("Job"))
	_, err := cluster.Volcano.BusV1alpha1().Commands(vcjob.Namespace).Create(t.Context(), &vcbus.Command{
		ObjectMeta:   metav1.ObjectMeta{GenerateName: "by-hand-", OwnerReferences: []metav1.OwnerReference{*owner}},
		Action:       action,
		TargetObject: owner,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
}

// Whoever aborts the Volcano Job by hand means it.
func TestAbortedByHandIsNotRetried(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "stopped", backoff(5)))
	awaitPhase(t, job, v1.Running)
	command(t, awaitVolcanoJob(t, job, nil), "AbortJob")
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "Aborted")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}

// So does whoever aborts it while no controller runs.
func TestAbortedByHandWhileTheControllerIsDown(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "stopped", backoff(5)))
	awaitPhase(t, job, v1.Running)
	vcjob := awaitVolcanoJob(t, job, nil)
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	command(t, vcjob, "AbortJob")
	awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool { return job.Status.State.Phase == vcbatch.Aborted })
	start()
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "Aborted")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
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
	uid := func(name string) string {
		pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		return string(pod.UID)
	}
	vcjob := awaitVolcanoJob(t, job, nil)
	podGroup := func() string {
		group, err := cluster.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Get(t.Context(), job.Name+"-"+string(vcjob.UID), metav1.GetOptions{})
		require.NoError(t, err)
		return string(group.UID)
	}
	group := podGroup()
	before := map[string]string{}
	for _, name := range []string{"alone-ps-0", "alone-ps-1", "alone-worker-0", "alone-worker-1"} {
		before[name] = uid(name)
	}
	again := func(name, was string) func(*v1.PaddleJob) bool {
		return func(job *v1.PaddleJob) bool {
			pod, err := cluster.Kube.CoreV1().Pods(job.Namespace).Get(t.Context(), name, metav1.GetOptions{})
			return err == nil && string(pod.UID) != was && pod.Status.Phase == corev1.PodRunning && job.Status.Phase == v1.Running
		}
	}
	pods := cluster.Kube.CoreV1().Pods(job.Namespace)
	require.NoError(t, pods.Delete(t.Context(), "alone-worker-1", metav1.DeleteOptions{}))
	evicted := awaitJob(t, job, "running again", again("alone-worker-1", before["alone-worker-1"]))
	require.Zero(t, evicted.Status.Failures)

	worker, err := pods.Get(t.Context(), "alone-worker-0", metav1.GetOptions{})
	require.NoError(t, err)
	worker.Status.Phase = corev1.PodFailed
	_, err = pods.UpdateStatus(t.Context(), worker, metav1.UpdateOptions{})
	require.NoError(t, err)
	failed := awaitJob(t, job, "running again", again("alone-worker-0", before["alone-worker-0"]))
	require.EqualValues(t, 1, failed.Status.Failures)
	require.Zero(t, failed.Status.Restarts, "the gang goes on")
	for _, name := range []string{"alone-ps-0", "alone-ps-1"} {
		require.Equal(t, before[name], uid(name))
	}
	require.Equal(t, group, podGroup())

	require.NoError(t, pods.Delete(t.Context(), "alone-ps-1", metav1.DeleteOptions{}))
	awaitJob(t, job, "running again", func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Running && job.Status.Restarts == 1
	})
	require.NotEqual(t, before["alone-ps-0"], uid("alone-ps-0"), "a server takes the gang with it")
}
