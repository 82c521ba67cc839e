// SPDX-License-Identifier: Apache-2.0

package kubeflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	batchv1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	kubeflowv1 "github.com/paddle-volcano/paddle-volcano/controller/api/kubeflow/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
	"github.com/paddle-volcano/paddle-volcano/controller/validation"
)

// What Kubeflow's scheduling policy says reaches the gang.
func TestSchedulingPolicyReachesTheGang(t *testing.T) {
	t.Parallel()
	made := Convert(job(servers, func(j *kubeflowv1.PaddleJob) {
		j.Spec.RunPolicy.SchedulingPolicy = &kubeflowv1.SchedulingPolicy{MinAvailable: ptr.To[int32](2), Queue: "gold", PriorityClass: "high"}
	}), false).Job
	require.Empty(t, validation.Validate(made, builder.PodGroupOverrides{}, builder.Config{}))
	volcano, _ := builder.Job(made, builder.PodGroupOverrides{}, builder.Config{})
	require.Equal(t, "gold", volcano.Spec.Queue)
	require.Equal(t, "high", volcano.Spec.PriorityClassName)
	require.EqualValues(t, 2, volcano.Spec.MinAvailable, "the server and one worker")
	for i := range volcano.Spec.Tasks {
		require.Equal(t, "high", volcano.Spec.Tasks[i].Template.Spec.PriorityClassName)
	}
}

// Of a template everything is passed on but what the table names.
func TestTheRestOfATemplateIsTheUsers(t *testing.T) {
	t.Parallel()
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		NodeSelector: map[string]string{"gpu": "a100"}, Tolerations: []corev1.Toleration{{Key: "gpu"}}, ServiceAccountName: "trainer",
		Volumes:        []corev1.Volume{{Name: "dshm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}}},
		InitContainers: []corev1.Container{{Name: "fetch", Image: "i"}},
		Containers:     []corev1.Container{{Name: "paddle", Image: "paddle", Args: []string{"-m", "paddle.distributed.launch", "train.py"}}},
	}}
	template.Annotations = map[string]string{"note": "n"}
	made := Convert(job(func(j *kubeflowv1.PaddleJob) { worker(j).Template = *template.DeepCopy() }), false).Job.Spec.Worker.Template
	require.Equal(t, template.Annotations, made.Annotations)
	want := template.Spec.DeepCopy()
	want.RestartPolicy = corev1.RestartPolicyNever
	want.Containers[0].Env = made.Spec.Containers[0].Env
	require.Equal(t, *want, made.Spec)
}

// Kubeflow's webhook adds a port to the container that trains and refuses pods without one of that name; here neither is
// needed.
func TestNoPortAndNoNameOfAContainerIsNeeded(t *testing.T) {
	t.Parallel()
	made := Convert(job(func(j *kubeflowv1.PaddleJob) {
		first := &worker(j).Template.Spec.Containers[0]
		first.Name, first.Ports = "trainer", nil
	}), false)
	require.Empty(t, made.Warnings)
	first := made.Job.Spec.Worker.Template.Spec.Containers[0]
	require.Empty(t, first.Ports)
	require.Equal(t, "train-worker-0.train:36543", values(first.Env)["PADDLE_MASTER"])
	require.Empty(t, validation.Validate(made.Job, builder.PodGroupOverrides{}, builder.Config{}))
}

// What of the status the controller does not own stays empty, or as it was.
func TestFieldsOfTheStatusThatAreNotWritten(t *testing.T) {
	t.Parallel()
	l := begin(t, servers)
	l.seen(training(2), func(made *batchv1.PaddleJob) { made.Status.StartTime = ago(time.Minute) })
	require.Nil(t, l.job.Status.LastReconcileTime, "it would change with every look")
	for _, count := range l.job.Status.ReplicaStatuses {
		require.Nil(t, count.LabelSelector)
		require.NotEmpty(t, count.Selector)
	}
	written := ago(time.Hour)
	l.job.Status.LastReconcileTime = written
	require.Equal(t, written, l.seen(training(1)).LastReconcileTime)
}

// Every condition says when it changed, and when its state did.
func TestConditionsAreComplete(t *testing.T) {
	t.Parallel()
	l := begin(t)
	l.seen(training(2))
	for _, c := range l.job.Status.Conditions {
		require.NotEmpty(t, c.Type)
		require.Contains(t, []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse}, c.Status)
		require.NotEmpty(t, c.Reason, c.Type)
		require.False(t, c.LastUpdateTime.IsZero(), c.Type)
		require.False(t, c.LastTransitionTime.IsZero(), c.Type)
	}
}
