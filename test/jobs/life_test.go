// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

func TestJobTrainsToCompleted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		job     func(namespace, name string, changes ...change) *v1.PaddleJob
		with    []change
		mode    v1.Mode
		reasons []string
	}{
		"ps by pod ip": {
			job: psJob, mode: v1.ModePS,
			reasons: []string{"Completed x1", "Created x1", "Running x1"},
		},
		"ps by service": {
			job: psJob, with: []change{byService}, mode: v1.ModePS,
			reasons: []string{"Completed x1", "Created x1", "Running x1"},
		},
		"collective": {
			job: collective, mode: v1.ModeCollective,
			reasons: []string{"Completed x1", "Created x1", "Running x1"},
		},
		"single": {
			job: collective, with: []change{workers(1)}, mode: v1.ModeSingle,
			reasons: []string{"Completed x1", "Created x1", "Running x1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := create(t, tc.job(cluster.Namespace(t), "train", append(tc.with, workersRunFor("3s"))...))
			n := job.Spec.Worker.Replicas

			running := awaitPhase(t, job, v1.Running)
			require.Equal(t, tc.mode, running.Status.Mode)
			require.Equal(t, "default", running.Status.Queue)
			require.NotNil(t, running.Status.StartTime)
			require.True(t, meta.IsStatusConditionTrue(running.Status.Conditions, v1.ConditionRunning))

			done := awaitPhase(t, job, v1.Completed)
			require.NotNil(t, done.Status.CompletionTime)
			require.Equal(t, n, done.Status.Worker.Succeeded)
			require.Equal(t, fmt.Sprintf("0/%d", n), done.Status.Worker.Ready)
			require.Len(t, done.Status.Worker.Refs, int(n))
			require.Equal(t, "train-worker-0", done.Status.Worker.Refs[0].Name)
			require.True(t, meta.IsStatusConditionTrue(done.Status.Conditions, v1.ConditionSucceeded))
			require.True(t, meta.IsStatusConditionTrue(done.Status.Conditions, v1.ConditionScheduled))
			require.Zero(t, done.Status.Restarts)
			awaitEvent(t, job, corev1.EventTypeNormal, "Completed")
			events, err := eventsOf(t.Context(), job)
			require.NoError(t, err)
			require.Equal(t, tc.reasons, reasonsOf(events), "each event is emitted once")
			awaitNoPodGroups(t, job.Namespace)
		})
	}
}

// awaitNoPodGroups waits until no PodGroup uses capacity of a queue.
func awaitNoPodGroups(t *testing.T, namespace string) {
	t.Helper()
	cluster.Await(t, "the PodGroups to go", func(ctx context.Context) error {
		list, err := cluster.Volcano.SchedulingV1beta1().PodGroups(namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("%s is still there", list.Items[0].Name)
		}
		return err
	})
}

func TestFailedJob(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "fails", workersRunFor("1s"), workersFail("7", "")))
	for n := range int32(2) { // each attempt may take its time
		awaitJob(t, job, "restarted", func(job *v1.PaddleJob) bool { return job.Status.Restarts > n })
	}
	failed := awaitPhase(t, job, v1.Failed)
	require.EqualValues(t, 2, failed.Status.Restarts, "three attempts are two restarts")
	c := meta.FindStatusCondition(failed.Status.Conditions, v1.ConditionFailed)
	require.NotNil(t, c)
	require.Equal(t, "BackoffLimitExceeded", c.Reason)
	require.Regexp(t, `^fails-worker-[01] exited with code 7; the job had been restarted twice before`, c.Message)
	require.NotNil(t, failed.Status.CompletionTime)
	require.Regexp(t, `exited with code 7`, awaitEvent(t, job, corev1.EventTypeWarning, "Failed"))
	require.Regexp(t, `^restart [12] of 2: fails-worker-[01] exited with code 7; the job starts again `, awaitEvent(t, job, corev1.EventTypeWarning, "Restarting"))
	awaitNoPodGroups(t, job.Namespace)
}

func TestGangRestartReplacesEnvironment(t *testing.T) {
	t.Parallel()
	job := create(t, psJob(cluster.Namespace(t), "again", workersRunFor("2s"), workersFail("1", "0")))
	first := awaitEnvironment(t, job, "")
	restarting := awaitJob(t, job, "restarted", func(job *v1.PaddleJob) bool { return job.Status.Restarts == 1 })
	require.Regexp(t, `^restart 1 of 2: again-worker-[01] exited with code 1; the job starts again `,
		meta.FindStatusCondition(restarting.Status.Conditions, v1.ConditionRestarting).Message)
	second := awaitEnvironment(t, job, first.Annotations[v1.GangAnnotation])
	require.NotEqual(t, first.UID, second.UID, "it was gone in between")
	require.NotEqual(t, first.Data["PADDLE_TRAINER_ENDPOINTS"], second.Data["PADDLE_TRAINER_ENDPOINTS"])
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 1, done.Status.Restarts)
	c := meta.FindStatusCondition(done.Status.Conditions, v1.ConditionRestarting)
	require.NotNil(t, c)
	require.Equal(t, metav1.ConditionFalse, c.Status)
}

// awaitEnvironment waits for the ConfigMap of another gang than one.
func awaitEnvironment(t *testing.T, job *v1.PaddleJob, gang string) *corev1.ConfigMap {
	t.Helper()
	var found *corev1.ConfigMap
	cluster.Await(t, "the environment of "+job.Name, func(ctx context.Context) error {
		cm, err := cluster.Kube.CoreV1().ConfigMaps(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && cm.Annotations[v1.GangAnnotation] == gang {
			err = fmt.Errorf("it is still that of gang %q", gang)
		}
		found = cm
		return err
	})
	return found
}
