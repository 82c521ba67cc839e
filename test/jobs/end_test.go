// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	require.InDelta(t, 15, failed.Status.CompletionTime.Sub(failed.CreationTimestamp.Time).Seconds(), 5, "since its creation")
	awaitEvent(t, job, corev1.EventTypeWarning, "Failed")
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}

// The workers are placed, and their kubelet cannot start them.
func TestDeadlineOfAGangThatNeverRuns(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "stuck", deadline(10), workersRunFor("never understood")))
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
