// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
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
