// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/apis/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
)

func TestJobTrainsToSucceeded(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train", runFor("3s")))
	running := awaitCondition(t, j, kubeflowv1.ConditionRunning)
	require.NotNil(t, running.Status.StartTime)
	require.EqualValues(t, 2, running.Status.ReplicaStatuses[kubeflowv1.Worker].Active)
	pods, err := cluster.Kube.CoreV1().Pods(j.Namespace).List(t.Context(), metav1.ListOptions{
		LabelSelector: running.Status.ReplicaStatuses[kubeflowv1.Worker].Selector,
	})
	require.NoError(t, err)
	require.Len(t, pods.Items, 2, "Kubeflow's tools find them")
	first := &pods.Items[0].Spec.Containers[0]
	require.Equal(t, "paddle", first.Name)
	require.NotEmpty(t, first.EnvFrom, "the environment is that of every PaddleJob")

	done := awaitCondition(t, j, kubeflowv1.ConditionSucceeded)
	require.NotNil(t, done.Status.CompletionTime)
	require.EqualValues(t, 2, done.Status.ReplicaStatuses[kubeflowv1.Worker].Succeeded)
	last := done.Status.Conditions[len(done.Status.Conditions)-1]
	require.Equal(t, kubeflowv1.ConditionSucceeded, last.Type, "that is what kubectl shows")
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSucceeded")

	// The controller looks at it every second; the status, and its PaddleJob, are written only on change.
	made, err := cluster.Paddle.BatchV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	other := create(t, job(j.Namespace, "other", runFor("3s")))
	awaitCondition(t, other, kubeflowv1.ConditionSucceeded)
	still, err := cluster.kubeflow.Get(t.Context(), j.Namespace, j.Name)
	require.NoError(t, err)
	require.Equal(t, done.ResourceVersion, still.ResourceVersion)
	require.EqualValues(t, 1, made.Generation, "what the API server fills in is no difference")
}

func TestExampleTrainsWithServers(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	objects, err := manifests.Read(deploy.Files, "examples/kubeflow.yaml")
	require.NoError(t, err)
	require.Len(t, objects, 1)
	require.NoError(t, unstructured.SetNestedStringMap(objects[0].Object, map[string]string{sandbox.AnnotationRunFor: "3s"},
		"spec", "paddleReplicaSpecs", "Worker", "template", "metadata", "annotations"))
	cluster.Await(t, "the example to be created", func(ctx context.Context) error {
		_, err := kubeflowJobs(space).Create(ctx, objects[0], metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	j, err := cluster.kubeflow.Get(t.Context(), space, objects[0].GetName())
	require.NoError(t, err)
	running := awaitCondition(t, j, kubeflowv1.ConditionRunning)
	require.EqualValues(t, 2, running.Status.ReplicaStatuses[kubeflowv1.Master].Active)
	made, err := cluster.Paddle.BatchV1().PaddleJobs(space).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, batchv1.ModePS, made.Status.Mode)
	require.Nil(t, made.Spec.RunPolicy.TTLSecondsAfterFinished)
	environment, err := cluster.Kube.CoreV1().ConfigMaps(space).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, environment.Data["PADDLE_SERVERS_ENDPOINTS"], "the launcher knows every server")
	done := awaitCondition(t, j, kubeflowv1.ConditionSucceeded)
	require.EqualValues(t, 2, done.Status.ReplicaStatuses[kubeflowv1.Worker].Succeeded, "the workers have succeeded; servers are stopped")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with   []kubeflowChange
		events []string
	}{
		"never":             {with: []kubeflowChange{fails("130"), restarts(kubeflowv1.RestartNever)}, events: []string{"PaddleJobCreated", "PaddleJobRunning", "PaddleJobFailed"}},
		"a permanent error": {with: []kubeflowChange{fails("7"), restarts(kubeflowv1.RestartExitCode)}, events: []string{"PaddleJobCreated", "PaddleJobRunning", "PaddleJobFailed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := create(t, job(cluster.Namespace(t), "fails", tc.with...))
			failed := awaitCondition(t, j, kubeflowv1.ConditionFailed)
			require.Regexp(t, `fails-worker-[01] exited with code`, holds(failed, kubeflowv1.ConditionFailed).Message)
			require.NotNil(t, failed.Status.CompletionTime)
			require.Nil(t, holds(failed, kubeflowv1.ConditionRunning))
			awaitEvents(t, j, tc.events...)
		})
	}
}

func TestRestartsAreTold(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "again", servers, fails("1"), func(j *kubeflowv1.PaddleJob) {
		worker(j).Template.Annotations[sandbox.AnnotationFailAttempt] = "0"
	}))
	awaitCondition(t, j, kubeflowv1.ConditionRestarting)
	done := awaitCondition(t, j, kubeflowv1.ConditionSucceeded)
	require.Nil(t, holds(done, kubeflowv1.ConditionRestarting))
}

// TestControllerIsKilled is not parallel.
func TestControllerIsKilled(t *testing.T) {
	space := cluster.Namespace(t)
	j := create(t, job(space, "before", runFor("6s")))
	awaitCondition(t, j, kubeflowv1.ConditionRunning)
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning") // what is not sent yet dies with the controller
	require.NoError(t, cluster.Kill(sandbox.Controller, syscall.SIGKILL))
	after := create(t, job(space, "meanwhile", runFor("3s")))
	require.NoError(t, cluster.StartComponent(sandbox.Controller))
	for _, j := range []*kubeflowv1.PaddleJob{j, after} {
		awaitCondition(t, j, kubeflowv1.ConditionSucceeded)
		awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSucceeded")
	}
}
