// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// paddle-operator copied all of a template's metadata into pods; Volcano takes labels and annotations.
func TestOfATemplatesMetadataLabelsAndAnnotationsCount(t *testing.T) {
	template, told := workerTemplate(t, paddleJob(0, 2, func(job *v1.PaddleJob) {
		job.Labels, job.Annotations = map[string]string{"team": "ads"}, map[string]string{"note": "of the job, not of its pods"}
		job.Spec.Worker.Template.ObjectMeta = metav1.ObjectMeta{
			Name: "mine", GenerateName: "mine-", Namespace: "elsewhere", Finalizers: []string{"a/b"},
			OwnerReferences: []metav1.OwnerReference{{Name: "o"}},
			Labels:          map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
		}
	}))
	require.Empty(t, told)
	require.Equal(t, metav1.ObjectMeta{
		Labels:      map[string]string{"a": "b", keys.JobName: "wide", keys.ResourceType: "worker"},
		Annotations: map[string]string{"c": "d", keys.Resource: "worker"},
	}, template.ObjectMeta)
}

// An unset policy is Never everywhere: paddle-operator made it OnFailure for workers of intranet Service and always for
// elastic ones, whose containers then restarted in place, unseen.
func TestAnUnsetRestartPolicyIsNever(t *testing.T) {
	for name, job := range map[string]*v1.PaddleJob{
		"PodIP": paddleJob(2, 2), "Service": paddleJob(2, 2, intranet(v1.Service)), "Host": paddleJob(2, 2, onHosts),
		"collective": paddleJob(0, 2, intranet(v1.Service)), "heter": paddleJob(1, 1, heter(1)),
		"elastic": paddleJob(0, 2, elastic(1, 4), etcdAt("kv:1")),
	} {
		got, _ := mustJob(t, job)
		for i := range got.Spec.Tasks {
			require.Equal(t, corev1.RestartPolicyNever, got.Spec.Tasks[i].Template.Spec.RestartPolicy, name)
		}
	}
	template, _ := workerTemplate(t, paddleJob(0, 2, elastic(1, 4), etcdAt("kv:1"),
		workerPod(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure })))
	require.Equal(t, corev1.RestartPolicyOnFailure, template.Spec.RestartPolicy, "an elastic worker may start again in place")
}

// A container port is a note for people; headless Services need none.
func TestPortsOfContainersAreTheUsers(t *testing.T) {
	own := []corev1.ContainerPort{{Name: "visual", ContainerPort: 8040}}
	for _, network := range []v1.Intranet{v1.PodIP, v1.Service, v1.Host} {
		got, _ := mustJob(t, paddleJob(2, 2, intranet(network), workerContainer(func(c *corev1.Container) { c.Ports = own })))
		require.Equal(t, own, taskOf(t, got, RoleWorker).Template.Spec.Containers[0].Ports)
		require.Empty(t, taskOf(t, got, RolePS).Template.Spec.Containers[0].Ports)
	}
}

// The volumes of the published examples, and the node's folder of the CTR one.
func TestVolumesAreTheUsers(t *testing.T) {
	volumes := []corev1.Volume{
		{Name: "claim", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "nfs-pvc"}}},
		{Name: "node", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/home/work/"}}},
		{Name: "dshm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	mounts := []corev1.VolumeMount{{Name: "claim", MountPath: "/nas"}, {Name: "node", MountPath: "/mnt"}, {Name: "dshm", MountPath: "/dev/shm"}}
	template, told := workerTemplate(t, paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
		s.Volumes, s.Containers[0].VolumeMounts = volumes, mounts
	})))
	require.Empty(t, told)
	require.Equal(t, volumes, template.Spec.Volumes)
	require.Equal(t, mounts, template.Spec.Containers[0].VolumeMounts)
}

// Each role mounts the sample set, the heterogeneous workers too.
func TestEveryRoleMountsTheSampleSet(t *testing.T) {
	got, _ := mustJob(t, paddleJob(1, 1, heter(1), sampleSet(v1.SampleSetRef{Name: "data", Namespace: "train", MountPath: "/data"})))
	require.Len(t, got.Spec.Tasks, 3)
	for i := range got.Spec.Tasks {
		spec := got.Spec.Tasks[i].Template.Spec
		require.Equal(t, "data", spec.Volumes[0].PersistentVolumeClaim.ClaimName)
		require.Equal(t, "/data", spec.Containers[0].VolumeMounts[0].MountPath)
	}
}

// The roles' parts of the spec are alike: what one has the others have.
func TestEachRoleIsATaskOfItsOwnTemplate(t *testing.T) {
	job := paddleJob(2, 3, heter(4))
	for role, spec := range map[string]*v1.ResourceSpec{RolePS: job.Spec.PS, RoleWorker: job.Spec.Worker, RoleHeter: job.Spec.Heter} {
		spec.Template.Spec.Containers[0].Image = role + ":v1"
		spec.Template.Spec.NodeSelector = map[string]string{"role": role}
	}
	got, told := mustJob(t, job)
	require.Empty(t, told)
	for i, want := range []struct {
		role     string
		replicas int32
	}{{RolePS, 2}, {RoleWorker, 3}, {RoleHeter, 4}} {
		task := got.Spec.Tasks[i]
		require.Equal(t, want.role, task.Name)
		require.Equal(t, want.replicas, task.Replicas)
		require.Equal(t, want.role+":v1", task.Template.Spec.Containers[0].Image)
		require.Equal(t, map[string]string{"role": want.role}, task.Template.Spec.NodeSelector)
		require.Equal(t, want.role, task.Template.Labels[keys.ResourceType])
	}
}
