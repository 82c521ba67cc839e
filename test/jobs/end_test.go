// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func failedReason(job *v1.PaddleJob) string {
	if c := meta.FindStatusCondition(job.Status.Conditions, v1.ConditionFailed); c != nil {
		return c.Reason + ": " + c.Message
	}
	return ""
}

// deadline bounds how long a job may take.
func deadline(seconds int64) change {
	return runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr(seconds) })
}

// awaitOverdue waits until a job has failed for its deadline, and holds nothing any more.
func awaitOverdue(t *testing.T, job *v1.PaddleJob) *v1.PaddleJob {
	t.Helper()
	failed := awaitPhase(t, job, v1.Failed)
	require.Regexp(t, "^DeadlineExceeded: .*activeDeadlineSeconds, [0-9]+ s", failedReason(failed))
	awaitPods(t, job, nil)
	awaitNoPodGroups(t, job.Namespace)
	return failed
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "late", deadline(15)))
	awaitPhase(t, job, v1.Running)
	failed := awaitOverdue(t, job)
	require.InDelta(t, 20, failed.Status.CompletionTime.Sub(failed.CreationTimestamp.Time).Seconds(), 6, "since its creation, and a loaded controller's time")
	awaitEvent(t, job, corev1.EventTypeWarning, "Failed")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}

// The workers are placed, and their kubelet cannot start them.
func TestDeadlineOfAGangThatNeverRuns(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "stuck", deadline(20), workersRunFor("never understood")))
	awaitPhase(t, job, v1.Starting)
	require.Nil(t, awaitOverdue(t, job).Status.StartTime)
}

func TestDeadlineOfAGangInTheQueue(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "queued", deadline(5), onNodes("nowhere")))
	require.Nil(t, awaitOverdue(t, job).Status.StartTime)
}

func TestDeadlineCountsFromTheResumption(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "resumed", deadline(5), suspend(true)))
	awaitPhase(t, job, v1.Suspended)
	cluster.Await(t, "the time to pass", func(context.Context) error {
		if past := time.Since(job.CreationTimestamp.Time); past < 7*time.Second {
			return fmt.Errorf("it was created %s ago", past)
		}
		return nil
	})
	edit(t, job, suspend(false))
	failed := awaitOverdue(t, job)
	c := meta.FindStatusCondition(failed.Status.Conditions, v1.ConditionSuspended)
	require.Equal(t, "Resumed", c.Reason)
	require.GreaterOrEqual(t, failed.Status.CompletionTime.Sub(c.LastTransitionTime.Time).Seconds(), 5.0)
}

func TestDeadlineThatIsSetWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	job := create(t, collective(cluster.Namespace(t), "late"))
	awaitPhase(t, job, v1.Running)
	edit(t, job, deadline(1))
	awaitOverdue(t, job)
}

// Velero restores objects without their status, under new uids, and leaves out those that are labeled so.
func TestFinishedJobThatIsRestoredDoesNotRun(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	jobs := cluster.Paddle.BatchV1().PaddleJobs(space)
	for job, end := range map[*v1.PaddleJob]v1.Phase{
		create(t, psJob(space, "good", workersRunFor("1s"))):                                  v1.Completed,
		create(t, psJob(space, "bad", backoff(0), workersRunFor("1s"), workersFail("1", ""))): v1.Failed,
	} {
		awaitPhase(t, job, end)
		require.Equal(t, "true", awaitVolcanoJob(t, job, nil).Labels[v1.ExcludeFromBackupLabel])
		var kept *v1.PaddleJob
		cluster.Await(t, "the final status of "+job.Name, func(ctx context.Context) error {
			found, err := jobs.Get(ctx, job.Name, metav1.GetOptions{})
			if err == nil && !strings.HasPrefix(found.Annotations[v1.FinalStatusAnnotation], string(end)+" ") {
				err = fmt.Errorf("the annotations are %v", found.Annotations)
			}
			kept = found
			return err
		})
		require.NoError(t, jobs.Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
		cluster.Await(t, job.Name+" to be gone", func(ctx context.Context) error {
			if _, err := jobs.Get(ctx, job.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %w", err)
			}
			if _, err := cluster.Volcano.BatchV1alpha1().Jobs(space).Get(ctx, job.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("its Volcano Job is there: %w", err)
			}
			return nil
		})
		restored := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{
			Namespace: space, Name: kept.Name, Labels: kept.Labels, Annotations: kept.Annotations,
		}, Spec: kept.Spec}
		restored = create(t, restored)
		after := awaitPhase(t, restored, end)
		kind := map[v1.Phase]string{v1.Completed: v1.ConditionSucceeded, v1.Failed: v1.ConditionFailed}[end]
		c := meta.FindStatusCondition(after.Status.Conditions, kind)
		require.Equal(t, "Restored", c.Reason)
		awaitSyncs(t, 10)
		_, err := cluster.Volcano.BatchV1alpha1().Jobs(space).Get(t.Context(), job.Name, metav1.GetOptions{})
		require.True(t, apierrors.IsNotFound(err), "%v", err)
	}
}

func TestFinishedJobIsForgotten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
	}{
		"completed": {with: []change{workersRunFor("1s")}},
		"failed":    {with: []change{deadline(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "forgotten", append(tc.with, runs(func(run *v1.RunPolicy) {
				run.TTLSecondsAfterFinished = ptr(int32(2))
			}))...))
			cluster.Await(t, "the job to go", func(ctx context.Context) error {
				_, err := cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
				if apierrors.IsNotFound(err) {
					return nil
				}
				return fmt.Errorf("it is there: %w", err)
			})
			awaitPods(t, job, nil)
			awaitNoPodGroups(t, job.Namespace)
		})
	}
}

// A workers' pods are left where the policy says so; servers are stopped in any case.
func TestCleanPodPolicy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		policy v1.CleanPodPolicy
		fails  bool
		cleans bool
	}{
		"unset after success":        {policy: "", cleans: true},
		"Always after success":       {policy: v1.CleanAlways, cleans: true},
		"OnCompletion after success": {policy: v1.CleanOnCompletion, cleans: true},
		"OnFailure after success":    {policy: v1.CleanOnFailure},
		"Never after success":        {policy: v1.CleanNever},
		"misspelt after success":     {policy: "OnComplete"},
		"Always after failure":       {policy: v1.CleanAlways, fails: true, cleans: true},
		"OnFailure after failure":    {policy: v1.CleanOnFailure, fails: true, cleans: true},
		"unset after failure":        {policy: "", fails: true},
		"misspelt after failure":     {policy: "always", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := []change{cleans(tc.policy), workersRunFor("1s"), workers(1)}
			phase := v1.Completed
			if tc.fails {
				with, phase = append(with, workersFail("1", "")), v1.Failed
			}
			job := create(t, psJob(cluster.Namespace(t), "over", with...))
			awaitPhase(t, job, phase)
			want := []string{"over-worker-0"}
			if tc.cleans {
				want = nil
			}
			awaitPods(t, job, want)
			awaitSyncs(t, 5)
			awaitPods(t, job, want)
			done := awaitPhase(t, job, phase)
			require.EqualValues(t, 1, done.Status.Worker.Succeeded+done.Status.Worker.Failed, "what became of them stays known")

			if !tc.cleans {
				edit(t, job, cleans(v1.CleanAlways))
				awaitPods(t, job, nil)
			}
		})
	}
}

// awaitPods waits until exactly these pods are there.
func awaitPods(t *testing.T, job *v1.PaddleJob, want []string) {
	t.Helper()
	cluster.Await(t, fmt.Sprintf("the pods to be %v", want), func(ctx context.Context) error {
		pods, err := cluster.Kube.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		var names []string
		for i := range pods.Items {
			names = append(names, pods.Items[i].Name)
		}
		if fmt.Sprint(names) != fmt.Sprint(want) {
			return fmt.Errorf("they are %v", names)
		}
		return nil
	})
}

func TestFinishedJobMakesNothingAgain(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "done", cleans(v1.CleanAlways), workersRunFor("1s")))
	awaitPhase(t, job, v1.Completed)
	require.NoError(t, cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
	awaitPods(t, job, nil)
	cluster.Await(t, "the Volcano Job to be gone", func(ctx context.Context) error {
		_, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	awaitSyncs(t, 10)
	awaitPods(t, job, nil)
	requireNoVolcanoJob(t, job)
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 2, done.Status.Worker.Succeeded)
}

// Volcano's Job controller loses a Job that is created while it still removes an earlier one of the name from its cache. That takes
// twice as long as the deletion of the earlier one's pods. The finalizer on a pod simulates a long grace period.
func TestVolcanoJobDeletedByHandIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, lingers := range map[string]bool{"pods go at once": false, "a pod lingers": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, psJob(cluster.Namespace(t), "lost"))
			awaitPhase(t, job, v1.Running)
			first := awaitVolcanoJob(t, job, nil)
			pods := cluster.Kube.CoreV1().Pods(job.Namespace)
			hold := func(finalizers string) {
				t.Helper()
				_, err := pods.Patch(t.Context(), "lost-ps-1", types.MergePatchType,
					[]byte(`{"metadata":{"finalizers":`+finalizers+`}}`), metav1.PatchOptions{})
				require.NoError(t, err)
			}
			if lingers {
				hold(`["test/lingers"]`)
			}
			require.NoError(t, cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Delete(t.Context(), job.Name,
				metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationBackground)}))
			if lingers {
				awaitCondition(t, job, v1.ConditionCreated, metav1.ConditionFalse, "WaitingForPredecessor")
				awaitSyncs(t, 10)
				hold(`null`)
			}
			awaitVolcanoJob(t, job, first)
			awaitPhase(t, job, v1.Running)
			// Volcano looks after it: a lost pod restarts the gang.
			awaitSyncs(t, 30)
			require.NoError(t, pods.Delete(t.Context(), "lost-worker-0", metav1.DeleteOptions{}))
			awaitRestarted(t, job, 1)
		})
	}
}

func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with    []change
		phase   v1.Phase
		options metav1.DeleteOptions
	}{
		"while it runs":     {phase: v1.Running},
		"with names":        {phase: v1.Running, with: []change{byService}},
		"while it waits":    {phase: v1.Pending, with: []change{onNodes("none.has/this")}},
		"after success":     {phase: v1.Completed, with: []change{workersRunFor("1s")}},
		"in the foreground": {phase: v1.Running, options: metav1.DeleteOptions{PropagationPolicy: ptr(metav1.DeletePropagationForeground)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			space := cluster.Namespace(t)
			job := create(t, psJob(space, "gone", tc.with...))
			awaitJob(t, job, "created and "+string(tc.phase), func(job *v1.PaddleJob) bool {
				return job.Status.Phase == tc.phase && len(job.Status.Conditions) > 0
			})
			require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(space).Delete(t.Context(), job.Name, tc.options))
			awaitEmpty(t, space)
		})
	}
}

func TestRecreatedAtOnceUnderTheSameName(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "phoenix"))
	awaitPhase(t, job, v1.Running)
	require.NoError(t, cluster.Paddle.BatchV1().PaddleJobs(job.Namespace).Delete(t.Context(), job.Name, metav1.DeleteOptions{}))
	again := create(t, psJob(job.Namespace, job.Name, workersRunFor("2s"), workers(3)))
	require.NotEqual(t, job.UID, again.UID)
	done := awaitPhase(t, again, v1.Completed)
	require.EqualValues(t, 3, done.Status.Worker.Succeeded)
	require.Zero(t, done.Status.Restarts)
}
