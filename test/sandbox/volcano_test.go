// SPDX-License-Identifier: Apache-2.0

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	batchv1alpha1 "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	busv1alpha1 "volcano.sh/apis/pkg/apis/bus/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/volcano"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox"
	"github.com/paddle-volcano/paddle-volcano/test/sandbox/stages"
)

// ctr returns a Volcano Job like the documentation's CTR example: servers that never end, and trainers that end it.
func ctr(name string, policy corev1.RestartPolicy, trainer notes) *batchv1alpha1.Job {
	restart := []batchv1alpha1.LifecyclePolicy{
		{Event: busv1alpha1.PodEvictedEvent, Action: busv1alpha1.RestartJobAction},
		{Event: busv1alpha1.PodFailedEvent, Action: busv1alpha1.RestartJobAction},
	}
	task := func(role string, annotations notes) batchv1alpha1.TaskSpec {
		return batchv1alpha1.TaskSpec{Name: role, Replicas: 2, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
			Spec: corev1.PodSpec{RestartPolicy: policy, Containers: []corev1.Container{{
				Name: role, Image: "volcanosh/edlctr:v1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "ephemeral-storage": resource.MustParse("10Gi")}},
			}}},
		}}
	}
	job := &batchv1alpha1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1alpha1.JobSpec{
			MinAvailable: 4, SchedulerName: "volcano", Policies: restart,
			Tasks: []batchv1alpha1.TaskSpec{task("pserver", nil), task("trainer", trainer)},
		},
	}
	job.Spec.Tasks[1].Policies = []batchv1alpha1.LifecyclePolicy{{Event: busv1alpha1.TaskCompletedEvent, Action: busv1alpha1.CompleteJobAction}}
	return job
}

func (e *env) submit(t *testing.T, namespace string, job *batchv1alpha1.Job) {
	t.Helper()
	_, err := e.Volcano.BatchV1alpha1().Jobs(namespace).Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
}

// reaches waits until the job is in a phase after a number of restarts. Volcano's Job controller never continues a restart whose
// last event it handles before its cache has seen that the PodGroup is deleted: the command SyncJob makes it look again.
func (e *env) reaches(t *testing.T, namespace, name string, phase batchv1alpha1.JobPhase, retries int32) {
	t.Helper()
	e.Await(t, "job "+name, func(ctx context.Context) error {
		job, err := e.Volcano.BatchV1alpha1().Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (job.Status.State.Phase != phase || job.Status.RetryCount != retries) {
			err = fmt.Errorf("it is %s after %d restarts, not %s after %d", job.Status.State.Phase, job.Status.RetryCount, phase, retries)
		}
		if err != nil && job.Status.State.Phase == batchv1alpha1.Restarting {
			err = errors.Join(err, e.syncIfWithoutPodGroup(ctx, job))
		}
		return err
	})
}

// syncIfWithoutPodGroup commands Volcano to sync the job if the job has no PodGroup.
func (e *env) syncIfWithoutPodGroup(ctx context.Context, job *batchv1alpha1.Job) error {
	_, err := e.Volcano.SchedulingV1beta1().PodGroups(job.Namespace).Get(ctx, volcano.PodGroupName(job), metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		return err
	}
	_, err = e.Volcano.BusV1alpha1().Commands(job.Namespace).Create(ctx,
		volcano.NewCommand(job, busv1alpha1.SyncJobAction, "", "Stuck", "the job restarts, and has no PodGroup"), metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// testCTR runs the example to its end; then again, and a server is deleted while it runs.
func (e *env) testCTR(t *testing.T) {
	namespace := e.NamespaceNamed(t, "ctr")
	e.submit(t, namespace, ctr("ctr", corev1.RestartPolicyOnFailure, nil))
	e.submit(t, namespace, ctr("robbed", corev1.RestartPolicyOnFailure, notes{stages.AnnotationRunFor: "4s"}))
	e.reaches(t, namespace, "robbed", batchv1alpha1.Running, 0)
	require.NoError(t, e.Kube.CoreV1().Pods(namespace).Delete(t.Context(), "robbed-pserver-1", metav1.DeleteOptions{}))
	e.reaches(t, namespace, "robbed", batchv1alpha1.Completed, 1)
	e.reaches(t, namespace, "ctr", batchv1alpha1.Completed, 0)

	pods, err := e.Kube.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: batchv1alpha1.JobNameKey + "=ctr"})
	require.NoError(t, err)
	addresses := map[string]bool{}
	for i := range pods.Items {
		require.NoError(t, ended(corev1.PodSucceeded, 0, "Completed", 0)(&pods.Items[i]))
		addresses[pods.Items[i].Status.PodIP] = true
	}
	require.Len(t, addresses, 2, "the trainers, with an address each, and no servers")
}

// testGangAttempts lets a gang fail as its trainers' annotations say.
func (e *env) testGangAttempts(t *testing.T) {
	namespace := e.NamespaceNamed(t, "gang")
	once := notes{stages.AnnotationRunFor: "1s", stages.AnnotationExitCode: "7", stages.AnnotationFailAttempt: "0"}
	every := notes{stages.AnnotationRunFor: "1s", stages.AnnotationExitCode: "7"}
	e.submit(t, namespace, ctr("once", corev1.RestartPolicyNever, once))
	e.submit(t, namespace, ctr("in-place", corev1.RestartPolicyOnFailure, once))
	e.submit(t, namespace, ctr("every", corev1.RestartPolicyNever, every))
	e.reaches(t, namespace, "once", batchv1alpha1.Completed, 1)
	e.reaches(t, namespace, "in-place", batchv1alpha1.Completed, 0)
	require.EqualValues(t, 1, e.pod(t, namespace, "in-place-trainer-0").Status.ContainerStatuses[0].RestartCount)
	e.reaches(t, namespace, "every", batchv1alpha1.Failed, 3)
}

// testAdmissionDefaults leaves out what only Volcano's webhooks fill in.
func (e *env) testAdmissionDefaults(t *testing.T) {
	namespace := e.NamespaceNamed(t, "defaults")
	job := ctr("bare", corev1.RestartPolicyNever, nil)
	job.Spec.SchedulerName, job.Spec.MinAvailable = "", 0
	e.submit(t, namespace, job)
	got, err := e.Volcano.BatchV1alpha1().Jobs(namespace).Get(t.Context(), "bare", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "volcano", got.Spec.SchedulerName)
	require.EqualValues(t, 4, got.Spec.MinAvailable)
	_, err = e.Volcano.BatchV1alpha1().Jobs(namespace).Create(t.Context(), &batchv1alpha1.Job{ObjectMeta: metav1.ObjectMeta{Name: "empty"}}, metav1.CreateOptions{})
	require.ErrorContains(t, err, "denied the request")
}

// testPermissions reads every log: no component was denied any request so far.
func (e *env) testPermissions(t *testing.T) {
	for _, name := range sandbox.Components() {
		data, err := os.ReadFile(e.Logs(name))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			require.NotContains(t, strings.ToLower(line), "forbidden: user", "log of %s", name)
		}
	}
}
