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
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// awaitVolcanoJob waits for a job's Volcano Job other than one, which may be nil.
func awaitVolcanoJob(t *testing.T, job *v1.PaddleJob, other *vcbatch.Job) *vcbatch.Job {
	t.Helper()
	var found *vcbatch.Job
	cluster.Await(t, "the Volcano Job of "+job.Name, func(ctx context.Context) error {
		vcjob, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && other != nil && vcjob.UID == other.UID {
			err = fmt.Errorf("it is still %s", vcjob.UID)
		}
		found = vcjob
		return err
	})
	return found
}

func TestSpecChangeWhilePending(t *testing.T) {
	t.Parallel()
	for name, with := range map[string][]change{"by pod ip": nil, "by service": {byService}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "edited", append(with, onNodes("none.has/this"), workersRunFor("2s"))...))
			awaitEvent(t, job, corev1.EventTypeWarning, awaitReason(t, job).Reason)
			first := awaitVolcanoJob(t, job, nil)

			edit(t, job, workers(3))
			second := awaitVolcanoJob(t, job, first)
			require.EqualValues(t, 5, second.Spec.MinAvailable)
			awaitEvent(t, job, corev1.EventTypeNormal, "Replacing")

			edit(t, job, func(job *v1.PaddleJob) {
				job.Spec.PS.Template.Spec.NodeSelector, job.Spec.Worker.Template.Spec.NodeSelector = nil, nil
			})
			done := awaitPhase(t, job, v1.Completed)
			require.EqualValues(t, 3, done.Status.Worker.Succeeded)
			cm, err := cluster.Kube.CoreV1().ConfigMaps(job.Namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, "3", cm.Data["PADDLE_TRAINERS_NUM"])
		})
	}
}

func TestSpecChangeWhileRunningIsReportedAndNotApplied(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit   change
		reason string
	}{
		"more workers":      {edit: workers(3), reason: "SpecChangeNotApplied"},
		"fewer workers":     {edit: workers(1), reason: "SpecChangeNotApplied"},
		"another intranet":  {edit: byService, reason: "SpecChangeNotApplied"},
		"what cannot run":   {edit: func(job *v1.PaddleJob) { job.Spec.Worker.Template.Spec.SchedulerName = "other" }, reason: "SpecChangeRefused"},
		"no servers at all": {edit: func(job *v1.PaddleJob) { job.Spec.PS = nil }, reason: "SpecChangeNotApplied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "edited"))
			awaitPhase(t, job, v1.Running)
			before, err := objects(t.Context(), job.Namespace)
			require.NoError(t, err)

			edit(t, job, tc.edit)
			awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, tc.reason)
			awaitEvent(t, job, corev1.EventTypeWarning, tc.reason)
			awaitSyncs(t, 5)
			now, err := objects(t.Context(), job.Namespace)
			require.NoError(t, err)
			for _, kept := range []string{"ConfigMap edited", "Pod edited-ps-0", "Pod edited-worker-1"} {
				require.Equal(t, before[kept], now[kept], kept)
			}
			fresh, err := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
			require.NoError(t, err)
			require.Equal(t, v1.Running, fresh.Status.Phase)
			require.Equal(t, "2/2", fresh.Status.Worker.Ready)
			require.True(t, meta.IsStatusConditionFalse(fresh.Status.Conditions, v1.ConditionStalled), "it runs")

			edit(t, job, func(fresh *v1.PaddleJob) { fresh.Spec = job.Spec })
			awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "VolcanoJobCreated")
		})
	}
}

// A gang that is restarted has nothing to lose, so the change that had to wait is made.
func TestSpecChangeIsAppliedByAGangRestart(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "edited"))
	awaitPhase(t, job, v1.Running)
	first := awaitVolcanoJob(t, job, nil)
	edit(t, job, workers(3))
	awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "SpecChangeNotApplied")

	require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "edited-worker-0", metav1.DeleteOptions{}))
	awaitVolcanoJob(t, job, first)
	again := awaitJob(t, job, "running with 3 workers", func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Running && job.Status.Worker.Ready == "3/3"
	})
	require.True(t, meta.IsStatusConditionTrue(again.Status.Conditions, v1.ConditionCreated))
	awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionTrue, "VolcanoJobCreated")
}

func TestSpecChangeAfterTheEndIsReported(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "edited", workersRunFor("1s")))
	awaitPhase(t, job, v1.Completed)
	first := awaitVolcanoJob(t, job, nil)
	edit(t, job, workers(3))
	require.Contains(t, awaitEvent(t, job, corev1.EventTypeWarning, "SpecChangeNotApplied"), "create a new PaddleJob")
	awaitSyncs(t, 5)
	require.Equal(t, first.UID, awaitVolcanoJob(t, job, nil).UID)
}

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

// However often and whenever a user suspends and resumes a job, one whole gang runs in the end.
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

// The degrees of a training YAML are read when the Volcano Job is created, and then stay as they are.
func TestDegreesOfTheTrainingConfig(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	configs := cluster.Kube.CoreV1().ConfigMaps(namespace)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"train.yaml": "tensor_model_parallel_size: two"}}
	_, err := configs.Create(t.Context(), config, metav1.CreateOptions{})
	require.NoError(t, err)
	job := create(t, collective(namespace, "hybrid", func(job *v1.PaddleJob) {
		job.Spec.Parallelism = &v1.Parallelism{ConfigMapKeyRef: &v1.ConfigMapKeyRef{Name: "config", Key: "train.yaml"}}
	}))
	awaitCondition(t, job, v1.ConditionStalled, metav1.ConditionTrue, "InvalidSpec")
	fresh, err := cluster.Paddle.BatchV1().PaddleJobs(namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
	require.NoError(t, err)
	message := meta.FindStatusCondition(fresh.Status.Conditions, v1.ConditionStalled).Message
	require.Contains(t, message, "spec.parallelism.configMapKeyRef[tensor_model_parallel_size]")
	require.Contains(t, message, "write a whole number")

	config.Data["train.yaml"] = "tensor_model_parallel_size: 2"
	_, err = configs.Update(t.Context(), config, metav1.UpdateOptions{})
	require.NoError(t, err)
	awaitPhase(t, job, v1.Running)

	config.Data["train.yaml"] = "tensor_model_parallel_size: 1"
	_, err = configs.Update(t.Context(), config, metav1.UpdateOptions{})
	require.NoError(t, err)
	awaitSyncs(t, 5)
	groups, err := cluster.Volcano.SchedulingV1beta1().PodGroups(namespace).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	require.Len(t, groups.Items, 1)
	require.Equal(t, "tensor=2,order=ShardingFirst", groups.Items[0].Annotations[v1.ParallelismAnnotation])
}
