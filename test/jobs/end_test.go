// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

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

func TestDeadline(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "late", runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr(int64(3)) })))
	awaitPhase(t, job, v1.Running)
	failed := awaitPhase(t, job, v1.Failed)
	require.Regexp(t, "^DeadlineExceeded: .*activeDeadlineSeconds, 3 s", failedReason(failed))
	require.GreaterOrEqual(t, failed.Status.CompletionTime.Sub(failed.Status.StartTime.Time).Seconds(), 2.0)
	awaitEvent(t, job, corev1.EventTypeWarning, "Failed")
	awaitPods(t, job, nil)
	awaitNoPodGroups(t, job.Namespace)
	awaitSyncs(t, 5)
	awaitPods(t, job, nil)
}

func TestDeadlineThatIsSetWhileTheJobRuns(t *testing.T) {
	t.Parallel()
	job := create(t, collective(cluster.Namespace(t), "late"))
	awaitPhase(t, job, v1.Running)
	edit(t, job, runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr(int64(1)) }))
	require.Regexp(t, "^DeadlineExceeded", failedReason(awaitPhase(t, job, v1.Failed)))
	awaitPods(t, job, nil)
}

func TestFinishedJobIsForgotten(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with []change
	}{
		"completed": {with: []change{workersRunFor("1s")}},
		"failed":    {with: []change{runs(func(run *v1.RunPolicy) { run.ActiveDeadlineSeconds = ptr(int64(1)) })}},
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
