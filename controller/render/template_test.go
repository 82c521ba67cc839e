// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// workerTemplate renders the job and gives the workers' template.
func workerTemplate(t *testing.T, job *v1.PaddleJob) (corev1.PodTemplateSpec, []Notice) {
	t.Helper()
	got, told := mustJob(t, job)
	return taskOf(t, got, RoleWorker).Template, told
}

func TestTemplateMetadata(t *testing.T) {
	job := paddleJob(2, 2)
	job.Spec.PS.Template.Name = "mine"
	job.Spec.PS.Template.Labels = map[string]string{"a": "b", keys.ResourceType: "x"}
	job.Spec.PS.Template.Annotations = map[string]string{"c": "d", keys.Resource: "x"}
	got, _ := mustJob(t, job)
	ps, worker := taskOf(t, got, RolePS).Template, taskOf(t, got, RoleWorker).Template
	require.Equal(t, map[string]string{"a": "b", keys.JobName: "wide", keys.ResourceType: "ps"}, ps.Labels)
	require.Equal(t, map[string]string{"c": "d", keys.Resource: "ps"}, ps.Annotations)
	require.Empty(t, ps.Name)
	require.Equal(t, map[string]string{keys.JobName: "wide", keys.ResourceType: "worker"}, worker.Labels)
	require.Equal(t, map[string]string{keys.Resource: "worker"}, worker.Annotations)
}

func TestTemplateRestartPolicy(t *testing.T) {
	cases := []struct {
		ps, workers int
		given, want corev1.RestartPolicy
		told        bool
	}{
		{0, 2, "", corev1.RestartPolicyNever, false},
		{0, 2, corev1.RestartPolicyNever, corev1.RestartPolicyNever, false},
		{0, 2, corev1.RestartPolicyAlways, corev1.RestartPolicyNever, true},
		{2, 2, corev1.RestartPolicyAlways, corev1.RestartPolicyNever, true},
		{2, 2, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, false},
		{0, 1, corev1.RestartPolicyOnFailure, corev1.RestartPolicyOnFailure, false},
	}
	for _, c := range cases {
		template, told := workerTemplate(t, paddleJob(c.ps, c.workers, workerPod(func(s *corev1.PodSpec) { s.RestartPolicy = c.given })))
		require.Equal(t, c.want, template.Spec.RestartPolicy)
		if c.told {
			requireNotice(t, told, ReasonRestartPolicyChanged, "spec.worker.template.spec.restartPolicy")
		} else {
			require.Empty(t, told)
		}
	}
}

func TestTemplateHostNetwork(t *testing.T) {
	host := workerPod(func(s *corev1.PodSpec) { s.HostNetwork = true })
	template, told := workerTemplate(t, paddleJob(0, 2, host))
	require.True(t, template.Spec.HostNetwork)
	require.Equal(t, corev1.DNSClusterFirstWithHostNet, template.Spec.DNSPolicy)
	requireNotice(t, told, ReasonHostNetwork, "spec.worker.template.spec.hostNetwork", "podAntiAffinity")

	template, told = workerTemplate(t, paddleJob(0, 1, host, workerPod(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSDefault })))
	require.Equal(t, corev1.DNSDefault, template.Spec.DNSPolicy)
	require.Empty(t, told)

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
	mount := corev1.VolumeMount{Name: sampleVolume, MountPath: "/data"}
	for _, name := range []string{RolePS, RoleWorker} {
		spec := taskOf(t, got, name).Template.Spec
		volume := spec.Volumes[len(spec.Volumes)-1]
		require.Equal(t, sampleVolume, volume.Name)
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
	vcjob, told := mustJob(t, paddleJob(0, 2, named, intranet(v1.Service)))
	spec := taskOf(t, vcjob, RoleWorker).Template.Spec
	require.Empty(t, spec.Hostname+spec.Subdomain, "Volcano's plugin svc fills in what is empty")
	requireNotice(t, told, ReasonHostnameReplaced, "spec.worker.template.spec", "PodIP")

	vcjob, told = mustJob(t, paddleJob(0, 2, named))
	spec = taskOf(t, vcjob, RoleWorker).Template.Spec
	require.Equal(t, "h.s", spec.Hostname+"."+spec.Subdomain)
	require.Empty(t, told)
}
