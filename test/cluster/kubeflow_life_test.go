// SPDX-License-Identifier: Apache-2.0

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/deploy"
	"github.com/paddle-volcano/paddle-volcano/test/manifests"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

func TestJobTrainsToSucceeded(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train", runFor("3s")))
	running := awaitCondition(t, j, batchv1.ConditionRunning)
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

	done := awaitCondition(t, j, batchv1.ConditionSucceeded)
	require.NotNil(t, done.Status.CompletionTime)
	require.EqualValues(t, 2, done.Status.ReplicaStatuses[kubeflowv1.Worker].Succeeded)
	last := done.Status.Conditions[len(done.Status.Conditions)-1]
	require.Equal(t, batchv1.ConditionSucceeded, last.Type, "that is what kubectl shows")
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSucceeded")

	// The controller looks at it every second; the status, and its PaddleJob, are written only on change.
	made, err := cluster.Paddle.BatchV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	other := create(t, job(j.Namespace, "other", runFor("3s")))
	awaitCondition(t, other, batchv1.ConditionSucceeded)
	still, err := cluster.Paddle.KubeflowV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{})
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
	require.NoError(t, unstructured.SetNestedStringMap(objects[0].Object, map[string]string{stages.AnnotationRunFor: "3s"},
		"spec", "paddleReplicaSpecs", "Worker", "template", "metadata", "annotations"))
	cluster.Await(t, "the example to be created", func(ctx context.Context) error {
		_, err := kubeflowJobs(space).Create(ctx, objects[0], metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
		return err
	})
	j, err := cluster.Paddle.KubeflowV1().PaddleJobs(space).Get(t.Context(), objects[0].GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	running := awaitCondition(t, j, batchv1.ConditionRunning)
	require.EqualValues(t, 2, running.Status.ReplicaStatuses[kubeflowv1.Master].Active)
	made, err := cluster.Paddle.BatchV1().PaddleJobs(space).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, batchv1.ModePS, made.Status.Mode)
	require.Nil(t, made.Spec.RunPolicy.TTLSecondsAfterFinished)
	environment, err := cluster.Kube.CoreV1().ConfigMaps(space).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, environment.Data["PADDLE_SERVERS_ENDPOINTS"], "the launcher knows every server")
	done := awaitCondition(t, j, batchv1.ConditionSucceeded)
	require.EqualValues(t, 2, done.Status.ReplicaStatuses[kubeflowv1.Worker].Succeeded, "the workers have succeeded; servers are stopped")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		with   []kubeflowChange
		events []string
	}{
		"never":             {with: []kubeflowChange{fails("130"), restarts(corev1.RestartPolicyNever)}, events: []string{"PaddleJobCreated", "PaddleJobRunning", "PaddleJobFailed"}},
		"a permanent error": {with: []kubeflowChange{fails("7"), restarts(kubeflowv1.RestartExitCode)}, events: []string{"PaddleJobCreated", "PaddleJobRunning", "PaddleJobFailed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := create(t, job(cluster.Namespace(t), "fails", tc.with...))
			failed := awaitCondition(t, j, batchv1.ConditionFailed)
			require.Regexp(t, `fails-worker-[01] exited with code`, holds(failed, batchv1.ConditionFailed).Message)
			require.NotNil(t, failed.Status.CompletionTime)
			require.Nil(t, holds(failed, batchv1.ConditionRunning))
			awaitEvents(t, j, tc.events...)
		})
	}
}

func TestRestartsAreReported(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "again", servers, fails("1"), func(j *kubeflowv1.PaddleJob) {
		worker(j).Template.Annotations[stages.AnnotationFailAttempt] = "0"
	}))
	awaitCondition(t, j, batchv1.ConditionRestarting)
	done := awaitCondition(t, j, batchv1.ConditionSucceeded)
	require.Nil(t, holds(done, batchv1.ConditionRestarting))
}

// TestControllerIsKilled is not parallel.
func TestControllerIsKilled(t *testing.T) {
	space := cluster.Namespace(t)
	j := create(t, job(space, "before", runFor("6s")))
	awaitCondition(t, j, batchv1.ConditionRunning)
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning") // what is not sent yet dies with the controller
	require.NoError(t, cluster.Kill(sandbox.Controller, syscall.SIGKILL))
	after := create(t, job(space, "meanwhile", runFor("3s")))
	require.NoError(t, cluster.StartComponent(sandbox.Controller))
	for _, j := range []*kubeflowv1.PaddleJob{j, after} {
		awaitCondition(t, j, batchv1.ConditionSucceeded)
		awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSucceeded")
	}
}

func paddleJob(t *testing.T, j *kubeflowv1.PaddleJob) *batchv1.PaddleJob {
	t.Helper()
	made, err := cluster.Paddle.BatchV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	return made
}

func remove(t *testing.T, j *kubeflowv1.PaddleJob) {
	t.Helper()
	require.NoError(t, kubeflowJobs(j.Namespace).Delete(t.Context(), j.Name, metav1.DeleteOptions{}))
}

func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "gone"))
	awaitCondition(t, j, batchv1.ConditionRunning)
	remove(t, j)
	awaitNothing(t, j.Namespace)
}

func TestRecreatedAtOnceUnderTheSameName(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "phoenix"))
	awaitCondition(t, j, batchv1.ConditionRunning)
	before := paddleJob(t, j)
	remove(t, j)
	again := create(t, job(j.Namespace, j.Name, runFor("2s")))
	require.NotEqual(t, j.UID, again.UID)
	awaitCondition(t, again, batchv1.ConditionSucceeded)
	require.NotEqual(t, before.UID, paddleJob(t, again).UID)
}

func TestTimeToLiveIsTheJobs(t *testing.T) {
	t.Parallel()
	second := int32(1)
	j := create(t, job(cluster.Namespace(t), "short", runFor("3s"), func(j *kubeflowv1.PaddleJob) { j.Spec.RunPolicy.TTLSecondsAfterFinished = &second }))
	cluster.Await(t, "the job to have lived", func(ctx context.Context) error {
		_, err := cluster.Paddle.KubeflowV1().PaddleJobs(j.Namespace).Get(ctx, j.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return errors.Join(errors.New("it is there"), err)
	})
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSucceeded")
	awaitNothing(t, j.Namespace)
}

func TestPaddleJobDeletedByHand(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train"))
	started := awaitCondition(t, j, batchv1.ConditionRunning).Status.StartTime
	first := paddleJob(t, j)
	jobs := cluster.Paddle.BatchV1().PaddleJobs(j.Namespace)
	require.NoError(t, jobs.Delete(t.Context(), j.Name, metav1.DeleteOptions{}))
	cluster.Await(t, "another PaddleJob", func(ctx context.Context) error {
		made, err := jobs.Get(ctx, j.Name, metav1.GetOptions{})
		if err == nil && made.UID == first.UID {
			err = errors.New("it is the same")
		}
		return err
	})
	edit(t, j, "1s", "paddleReplicaSpecs", "Worker", "template", "metadata", "annotations", "sandbox.paddle-volcano.io/run-for")
	done := awaitCondition(t, j, batchv1.ConditionSucceeded)
	require.Equal(t, started, done.Status.StartTime)

	// Now that it has ended, nothing is made for it again.
	require.NoError(t, jobs.Delete(t.Context(), j.Name, metav1.DeleteOptions{}))
	awaitNothing(t, j.Namespace)
	other := create(t, job(j.Namespace, "other", runFor("1s")))
	awaitCondition(t, other, batchv1.ConditionSucceeded)
	_, err := jobs.Get(t.Context(), j.Name, metav1.GetOptions{})
	require.True(t, apierrors.IsNotFound(err))
	still, err := cluster.Paddle.KubeflowV1().PaddleJobs(j.Namespace).Get(t.Context(), j.Name, metav1.GetOptions{})
	require.NoError(t, err)
	require.NotNil(t, holds(still, batchv1.ConditionSucceeded))
}

func TestPaddleJobEditedByHand(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train"))
	awaitCondition(t, j, batchv1.ConditionRunning)
	made := paddleJob(t, j)
	made.Spec.CleanPodPolicy = batchv1.CleanAlways
	delete(made.Labels, "training.kubeflow.org/job-name")
	jobs := cluster.Paddle.BatchV1().PaddleJobs(j.Namespace)
	cluster.Await(t, "the edit", func(ctx context.Context) error {
		fresh, err := jobs.Get(ctx, j.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		fresh.Spec, fresh.Labels = made.Spec, made.Labels
		_, err = jobs.Update(ctx, fresh, metav1.UpdateOptions{})
		return err
	})
	cluster.Await(t, "it to be undone", func(ctx context.Context) error {
		fresh, err := jobs.Get(ctx, j.Name, metav1.GetOptions{})
		if err == nil && (fresh.Spec.CleanPodPolicy != batchv1.CleanNever || fresh.Labels["training.kubeflow.org/job-name"] != j.Name) {
			err = fmt.Errorf("it is %q, %v", fresh.Spec.CleanPodPolicy, fresh.Labels)
		}
		return err
	})
	require.Equal(t, made.UID, paddleJob(t, j).UID)
	require.NotNil(t, holds(awaitCondition(t, j, batchv1.ConditionRunning), batchv1.ConditionCreated), "it trained on")
}

func TestNameThatIsTaken(t *testing.T) {
	t.Parallel()
	space := cluster.Namespace(t)
	jobs := cluster.Paddle.BatchV1().PaddleJobs(space)
	paddle := &batchv1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "train"}}
	paddle.Spec.Worker = &batchv1.ResourceSpec{Replicas: 1, Template: worker(job(space, "train")).Template}
	paddle, err := jobs.Create(t.Context(), paddle, metav1.CreateOptions{})
	require.NoError(t, err)
	j := create(t, job(space, "train", runFor("1s")))
	stalled := holds(awaitCondition(t, j, batchv1.ConditionStalled), batchv1.ConditionStalled)
	require.Equal(t, "NameTaken", stalled.Reason)
	awaitEvents(t, j, "NameTaken")
	still, err := jobs.Get(t.Context(), "train", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, paddle.Spec, still.Spec)
	require.Equal(t, paddle.UID, still.UID)

	require.NoError(t, jobs.Delete(t.Context(), "train", metav1.DeleteOptions{}))
	awaitCondition(t, j, batchv1.ConditionSucceeded)
}

func TestSuspendAndResume(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train"))
	awaitCondition(t, j, batchv1.ConditionRunning)
	edit(t, j, true, "runPolicy", "suspend")
	suspended := awaitCondition(t, j, batchv1.ConditionSuspended)
	require.Nil(t, holds(suspended, batchv1.ConditionRunning))
	cluster.Await(t, "the pods to go", func(ctx context.Context) error {
		pods, err := cluster.Kube.CoreV1().Pods(j.Namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d are there", len(pods.Items))
		}
		return err
	})
	awaitJob(t, j, "without pods", func(j *kubeflowv1.PaddleJob) bool { return j.Status.ReplicaStatuses[kubeflowv1.Worker].Active == 0 })
	edit(t, j, false, "runPolicy", "suspend")
	awaitCondition(t, j, batchv1.ConditionRunning)
	awaitEvents(t, j, "PaddleJobCreated", "PaddleJobRunning", "PaddleJobSuspended", "PaddleJobResumed", "PaddleJobRunning")
}

func TestRefusedJobIsHelped(t *testing.T) {
	t.Parallel()
	j := create(t, job(cluster.Namespace(t), "train", runFor("1s"), restarts("Sometimes")))
	stalled := awaitCondition(t, j, batchv1.ConditionStalled)
	require.Contains(t, holds(stalled, batchv1.ConditionStalled).Message, `restartPolicy "Sometimes" does not exist`)
	edit(t, j, "OnFailure", "paddleReplicaSpecs", "Worker", "restartPolicy")
	awaitCondition(t, j, batchv1.ConditionSucceeded)
}
