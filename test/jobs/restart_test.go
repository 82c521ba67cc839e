// SPDX-License-Identifier: Apache-2.0

package jobs_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Not parallel, like every test that ends a component.
func TestControllerRestartedInTheMiddle(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"politely": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			job := create(t, psJob(cluster.Namespace(t), "middle"))
			awaitPhase(t, job, v1.Running)
			awaitEvent(t, job, corev1.EventTypeNormal, "Running")
			before, err := eventsOf(t.Context(), job)
			require.NoError(t, err)
			for range 2 {
				down(t, sandbox.Controller, signal)()
				cluster.Await(t, "the controller to be back", func(ctx context.Context) error {
					_, err := syncs(ctx)
					return err
				})
				awaitSyncs(t, 5)
			}
			after, err := eventsOf(t.Context(), job)
			require.NoError(t, err)
			require.Equal(t, told(before), told(after), "nothing is told again")
			require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "middle-ps-1", metav1.DeleteOptions{}))
			awaitJob(t, job, "running again", func(job *v1.PaddleJob) bool {
				return job.Status.Phase == v1.Running && job.Status.Restarts == 1
			})
		})
	}
}

// The whole life up to the first running pod passes while nobody works on PaddleJobs, and so does the end.
func TestControllerMissesWhatHappens(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "missed"))
	running := awaitPhase(t, job, v1.Running)
	old := awaitEnvironment(t, job, "")
	vcjob := awaitVolcanoJob(t, job, nil)

	start := down(t, sandbox.Controller, syscall.SIGKILL)
	require.NoError(t, cluster.Kube.CoreV1().Pods(job.Namespace).Delete(t.Context(), "missed-worker-0", metav1.DeleteOptions{}))
	awaitVolcanoPhase(t, vcjob, func(job *vcbatch.Job) bool {
		return job.Status.RetryCount == 1 && job.Status.State.Phase == vcbatch.Running
	})
	start()
	fresh := awaitEnvironment(t, job, old.Annotations[keys.Gang])
	require.NotEqual(t, old.Data["PADDLE_TRAINER_ENDPOINTS"], fresh.Data["PADDLE_TRAINER_ENDPOINTS"])
	again := awaitJob(t, job, "restarted", func(job *v1.PaddleJob) bool { return job.Status.Restarts == 1 })
	require.Equal(t, running.Status.StartTime, again.Status.StartTime, "it is when the gang first ran")
}

func awaitVolcanoPhase(t *testing.T, job *vcbatch.Job, want func(*vcbatch.Job) bool) {
	t.Helper()
	cluster.Await(t, "the Volcano Job to go on", func(ctx context.Context) error {
		fresh, err := cluster.Volcano.BatchV1alpha1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err == nil && !want(fresh) {
			err = fmt.Errorf("it is %s after %d failures", fresh.Status.State.Phase, fresh.Status.RetryCount)
		}
		return err
	})
}

// Volcano's controllers end a job on the event of its last worker; one that they missed must not run for ever.
func TestVolcanoMissesTheEnd(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "ends", workersRunFor("4s")))
	awaitPhase(t, job, v1.Running)
	start := down(t, sandbox.VolcanoController, syscall.SIGKILL)
	awaitJob(t, job, "without running workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Succeeded == 2 })
	start()
	done := awaitPhase(t, job, v1.Completed)
	require.Equal(t, "0/2", done.Status.PS.Ready)
	awaitPods(t, job, []string{"ends-worker-0", "ends-worker-1"})
}

// So must a gang of which a pod failed meanwhile not wait for ever.
func TestVolcanoMissesAFailure(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "fails", workersRunFor("4s"), workersFail("7", "0")))
	awaitPhase(t, job, v1.Running)
	start := down(t, sandbox.VolcanoController, syscall.SIGKILL)
	awaitJob(t, job, "with failed workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Failed == 2 })
	start()
	done := awaitPhase(t, job, v1.Completed)
	require.EqualValues(t, 1, done.Status.Restarts)
}

// Failures wait for the controller, also where all pods of a gang fail.
func TestGangFailsWhileTheControllerIsDown(t *testing.T) {
	job := create(t, collective(cluster.Namespace(t), "all", workersRunFor("4s"), workersFail("7", "")))
	awaitPhase(t, job, v1.Running)
	start := down(t, sandbox.Controller, syscall.SIGKILL)
	cluster.Await(t, "both workers to fail", func(ctx context.Context) error {
		failed, err := cluster.Kube.CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Failed"})
		if err == nil && len(failed.Items) != 2 {
			err = fmt.Errorf("%d have failed", len(failed.Items))
		}
		return err
	})
	start()
	failed := awaitPhase(t, job, v1.Failed)
	require.EqualValues(t, 2, failed.Status.Restarts)
	require.EqualValues(t, 2, failed.Status.Failures)
	require.Regexp(t, `all-worker-[01] exited with code 7; the job had been restarted twice before`, failedReason(failed))
	awaitNoPodGroups(t, job.Namespace)
}
