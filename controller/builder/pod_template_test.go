// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// workerTemplate renders the job and gives the workers' template.
func workerTemplate(t *testing.T, job *v1.PaddleJob) (corev1.PodTemplateSpec, []Cause) {
	t.Helper()
	got, warnings := mustJob(t, job)
	return taskOf(t, got, RoleWorker).Template, warnings
}

func TestTemplateMetadata(t *testing.T) {
	job := paddleJob(2, 2)
	job.Spec.PS.Template.Name = "mine"
	job.Spec.PS.Template.Labels = map[string]string{"a": "b", v1.ResourceTypeLabel: "x"}
	job.Spec.PS.Template.Annotations = map[string]string{"c": "d", v1.ResourceAnnotation: "x"}
	got, _ := mustJob(t, job)
	ps, worker := taskOf(t, got, RolePS).Template, taskOf(t, got, RoleWorker).Template
	require.Equal(t, map[string]string{"a": "b", v1.JobNameLabel: "wide", v1.ResourceTypeLabel: "ps"}, ps.Labels)
	require.Equal(t, map[string]string{"c": "d", v1.ResourceAnnotation: "ps"}, ps.Annotations)
	require.Empty(t, ps.Name)
	require.Equal(t, map[string]string{v1.JobNameLabel: "wide", v1.ResourceTypeLabel: "worker"}, worker.Labels)
	require.Equal(t, map[string]string{v1.ResourceAnnotation: "worker"}, worker.Annotations)
}

func TestTemplateRestartPolicy(t *testing.T) {
	cases := []struct {
		ps, workers int
		given, want corev1.RestartPolicy
		warnings    bool
	}{
		{0, 2, "", corev1.RestartPolicyNever, false},
		{0, 2, corev1.RestartPolicyNever, corev1.RestartPolicyNever, false},
		{0, 2, corev1.RestartPolicyAlways, corev1.RestartPolicyNever, true},
		{2, 2, corev1.RestartPolicyAlways, corev1.RestartPolicyNever, true},
		{2, 2, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, false},
		{0, 1, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, false},
	}
	for _, c := range cases {
		template, warnings := workerTemplate(t, paddleJob(c.ps, c.workers, workerPod(func(s *corev1.PodSpec) { s.RestartPolicy = c.given })))
		require.Equal(t, c.want, template.Spec.RestartPolicy)
		if c.warnings {
			requireCause(t, warnings, ReasonRestartPolicyChanged, "spec.worker.template.spec.restartPolicy")
		} else {
			require.Empty(t, warnings)
		}
	}
}

func TestTemplateHostNetwork(t *testing.T) {
	host := workerPod(func(s *corev1.PodSpec) { s.HostNetwork = true })
	template, warnings := workerTemplate(t, paddleJob(0, 2, host))
	require.True(t, template.Spec.HostNetwork)
	require.Equal(t, corev1.DNSClusterFirstWithHostNet, template.Spec.DNSPolicy)
	requireCause(t, warnings, ReasonHostNetwork, "spec.worker.template.spec.hostNetwork", "podAntiAffinity")

	template, warnings = workerTemplate(t, paddleJob(0, 1, host, workerPod(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault })))
	require.Equal(t, corev1.DNSDefault, template.Spec.DNSPolicy)
	require.Empty(t, warnings)

	template, _ = workerTemplate(t, paddleJob(0, 2))
	require.Empty(t, template.Spec.DNSPolicy)
}

func TestTemplateKeepsItsPriority(t *testing.T) {
	template, _ := workerTemplate(t, paddleJob(0, 2, policy(func(p *v1.SchedulingPolicy) { p.PriorityClass = "high" }),
		workerPod(func(s *corev1.PodSpec) { s.PriorityClassName = "mine" })))
	require.Equal(t, "mine", template.Spec.PriorityClassName)
}

func TestTemplateRequests(t *testing.T) {
	template, _ := workerTemplate(t, paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
		s.Containers[0].Resources.Limits = list("nvidia.com/gpu", "1", "cpu", "4")
		s.Containers[0].Resources.Requests = list("cpu", "2", "memory", "1Gi")
		s.Containers = append(s.Containers, corev1.Container{Name: "side", Image: "i"})
		s.InitContainers = []corev1.Container{{Name: "init", Image: "i", Resources: corev1.ResourceRequirements{Limits: list("cpu", "300m")}}}
	})))
	require.Equal(t, map[string]string{"nvidia.com/gpu": "1", "cpu": "2", "memory": "1Gi"}, text(template.Spec.Containers[0].Resources.Requests))
	require.Nil(t, template.Spec.Containers[1].Resources.Requests)
	require.Equal(t, map[string]string{"cpu": "300m"}, text(template.Spec.InitContainers[0].Resources.Requests))
}

func TestTemplateRequestsOfThePod(t *testing.T) {
	pod := func(requests, limits corev1.ResourceList, container corev1.ResourceList) corev1.ResourceList {
		template, _ := workerTemplate(t, paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
			s.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: limits}
			s.Containers[0].Resources.Requests = container
		})))
		return template.Spec.Resources.Requests
	}
	require.Equal(t, map[string]string{"cpu": "4"}, text(pod(nil, list("cpu", "4"), nil)), "the limit")
	require.Equal(t, map[string]string{"cpu": "1"}, text(pod(nil, list("cpu", "4"), list("cpu", "1"))), "the containers' sum")
	require.Equal(t, map[string]string{"cpu": "3"}, text(pod(list("cpu", "3"), list("cpu", "4"), list("cpu", "1"))), "its own")
	require.Equal(t, map[string]string{"cpu": "4", "memory": "1Gi"}, text(pod(nil, list("cpu", "4"), list("memory", "1Gi"))), "both")
	require.Equal(t, map[string]string{"cpu": "3"}, text(pod(list("cpu", "3"), nil, list("memory", "1Gi"))), "nothing without limits")
}

func TestTemplateIsTheUsersOtherwise(t *testing.T) {
	job := paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
		s.NodeSelector = map[string]string{"accelerator": "p100"}
		s.Tolerations = []corev1.Toleration{{Key: "gpu"}}
		s.Containers = append(s.Containers, corev1.Container{Name: "side", Image: "i", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}})
	}))
	before := job.DeepCopy()
	template, _ := workerTemplate(t, job)
	require.Equal(t, before, job, "the PaddleJob was changed")
	require.Equal(t, before.Spec.Worker.Template.Spec.NodeSelector, template.Spec.NodeSelector)
	require.Equal(t, before.Spec.Worker.Template.Spec.Tolerations, template.Spec.Tolerations)
	require.Equal(t, before.Spec.Worker.Template.Spec.Containers[1], template.Spec.Containers[1])

	template.Spec.NodeSelector["accelerator"] = "changed"
	template.Spec.Tolerations[0].Key = "changed"
	require.Equal(t, before, job, "what is rendered shares memory with the PaddleJob")
}

func TestTemplateMountsSampleSet(t *testing.T) {
	job := paddleJob(2, 2, sampleSet(v1.SampleSetRef{Name: "claim", MountPath: "/data"}), workerPod(func(s *corev1.PodSpec) {
		s.Volumes = []corev1.Volume{{Name: "own"}}
		s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "own", MountPath: "/own"}}
		s.Containers = append(s.Containers, corev1.Container{Name: "side", Image: "i"})
	}))
	got, _ := mustJob(t, job)
	mount := corev1.VolumeMount{Name: SampleVolume, MountPath: "/data"}
	for _, name := range []string{RolePS, RoleWorker} {
		spec := taskOf(t, got, name).Template.Spec
		volume := spec.Volumes[len(spec.Volumes)-1]
		require.Equal(t, SampleVolume, volume.Name)
		require.Equal(t, &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}, volume.PersistentVolumeClaim)
		require.Contains(t, spec.Containers[0].VolumeMounts, mount)
	}
	worker := taskOf(t, got, RoleWorker).Template.Spec
	require.Len(t, worker.Volumes, 2)
	require.Len(t, worker.Containers[0].VolumeMounts, 2)
	require.Empty(t, worker.Containers[1].VolumeMounts)
	// Two roles must not write into one list.
	require.Len(t, taskOf(t, got, RolePS).Template.Spec.Volumes, 1)
}

func TestHostNamesAreThePodsOwnInServiceMode(t *testing.T) {
	named := workerPod(func(spec *corev1.PodSpec) { spec.Hostname, spec.Subdomain = "h", "s" })
	vcjob, warnings := mustJob(t, paddleJob(0, 2, named, intranet(v1.Service)))
	spec := taskOf(t, vcjob, RoleWorker).Template.Spec
	require.Empty(t, spec.Hostname+spec.Subdomain, "Volcano's plugin svc fills in what is empty")
	requireCause(t, warnings, ReasonHostnameReplaced, "spec.worker.template.spec", "PodIP")

	vcjob, warnings = mustJob(t, paddleJob(0, 2, named))
	spec = taskOf(t, vcjob, RoleWorker).Template.Spec
	require.Equal(t, "h.s", spec.Hostname+"."+spec.Subdomain)
	require.Empty(t, warnings)
}

// paddle-operator copied all of a template's metadata into pods; Volcano takes labels and annotations.
func TestOfATemplatesMetadataLabelsAndAnnotationsCount(t *testing.T) {
	template, warnings := workerTemplate(t, paddleJob(0, 2, func(job *v1.PaddleJob) {
		job.Labels, job.Annotations = map[string]string{"team": "ads"}, map[string]string{"note": "of the job, not of its pods"}
		job.Spec.Worker.Template.ObjectMeta = metav1.ObjectMeta{
			Name: "mine", GenerateName: "mine-", Namespace: "elsewhere", Finalizers: []string{"a/b"},
			OwnerReferences: []metav1.OwnerReference{{Name: "o"}},
			Labels:          map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"},
		}
	}))
	require.Empty(t, warnings)
	require.Equal(t, metav1.ObjectMeta{
		Labels:      map[string]string{"a": "b", v1.JobNameLabel: "wide", v1.ResourceTypeLabel: "worker"},
		Annotations: map[string]string{"c": "d", v1.ResourceAnnotation: "worker"},
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
	template, warnings := workerTemplate(t, paddleJob(0, 2, workerPod(func(s *corev1.PodSpec) {
		s.Volumes, s.Containers[0].VolumeMounts = volumes, mounts
	})))
	require.Empty(t, warnings)
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
	got, warnings := mustJob(t, job)
	require.Empty(t, warnings)
	for i, want := range []struct {
		role     string
		replicas int32
	}{{RolePS, 2}, {RoleWorker, 3}, {RoleHeter, 4}} {
		task := got.Spec.Tasks[i]
		require.Equal(t, want.role, task.Name)
		require.Equal(t, want.replicas, task.Replicas)
		require.Equal(t, want.role+":v1", task.Template.Spec.Containers[0].Image)
		require.Equal(t, map[string]string{"role": want.role}, task.Template.Spec.NodeSelector)
		require.Equal(t, want.role, task.Template.Labels[v1.ResourceTypeLabel])
	}
}
