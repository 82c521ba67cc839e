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

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

// Not parallel, like every test that ends a component.
func TestControllerRestartedInTheMiddle(t *testing.T) {
	job := create(t, psJob(cluster.Namespace(t), "middle"))
	awaitPhase(t, job, v1.Running)
	awaitEvent(t, job, corev1.EventTypeNormal, "Running")
	before, err := eventsOf(t.Context(), job)
	require.NoError(t, err)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
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
	awaitRestarted(t, job, 1)
}

// awaitRestarted waits until a job runs after a number of restarts.
func awaitRestarted(t *testing.T, job *v1.PaddleJob, restarts int32) *v1.PaddleJob {
	t.Helper()
	return awaitJob(t, job, fmt.Sprintf("running after %d restarts", restarts), func(job *v1.PaddleJob) bool {
		return job.Status.Phase == v1.Running && job.Status.Restarts == restarts
	})
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

// Volcano's controllers act on events of pods. They missed the success of the workers of one job, and the failure of those of
// another.
func TestVolcanoIsDown(t *testing.T) {
	ends := create(t, psJob(cluster.Namespace(t), "ends", workersRunFor("4s")))
	fails := create(t, psJob(cluster.NamespaceNamed(t, "volcano-misses-failures"), "fails", workersRunFor("4s"), workersFail("7", "0")))
	awaitPhase(t, ends, v1.Running)
	awaitPhase(t, fails, v1.Running)
	start := down(t, sandbox.VolcanoController, syscall.SIGKILL)
	awaitJob(t, ends, "without running workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Succeeded == 2 })
	awaitJob(t, fails, "with failed workers", func(job *v1.PaddleJob) bool { return job.Status.Worker.Failed == 2 })
	start()
	require.EqualValues(t, 1, awaitPhase(t, fails, v1.Completed).Status.Restarts)
	t.Parallel() // the controller leaves Volcano 30 seconds to see the end
	require.Equal(t, "0/2", awaitPhase(t, ends, v1.Completed).Status.PS.Ready)
	awaitPods(t, ends, []string{"ends-worker-0", "ends-worker-1"})
}
