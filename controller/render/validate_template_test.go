// SPDX-License-Identifier: Apache-2.0

package render

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

func TestValidateRefusesTemplates(t *testing.T) {
	resources := func(requests, limits corev1.ResourceList) change {
		return workerContainer(func(c *corev1.Container) {
			c.Resources = corev1.ResourceRequirements{Requests: requests, Limits: limits}
		})
	}
	mounts := func(all ...corev1.VolumeMount) change {
		return workerPod(func(spec *corev1.PodSpec) {
			spec.Volumes = []corev1.Volume{{Name: "d"}}
			spec.Containers[0].VolumeMounts = all
		})
	}
	volumes := func(names ...string) change {
		return workerPod(func(spec *corev1.PodSpec) {
			for _, name := range names {
				spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name})
			}
		})
	}
	pod, container := workerPod, workerContainer
	cases := map[string]struct {
		change change
		reason string
		words  []string
	}{
		"no container":    {pod(func(s *corev1.PodSpec) { s.Containers = nil }), ReasonNoContainer, []string{"spec.worker.template.spec.containers"}},
		"other scheduler": {pod(func(s *corev1.PodSpec) { s.SchedulerName = "default-scheduler" }), ReasonOtherScheduler, []string{"spec.worker.template.spec.schedulerName", "default-scheduler", "volcano"}},
		"OnFailure":       {pod(func(s *corev1.PodSpec) { s.RestartPolicy = corev1.RestartPolicyOnFailure }), ReasonRestartPolicy, []string{"spec.worker.template.spec.restartPolicy", "hang"}},
		"unknown policy":  {pod(func(s *corev1.PodSpec) { s.RestartPolicy = "Sometimes" }), ReasonRestartPolicy, []string{"Sometimes"}},
		"dns": {func(job *v1.PaddleJob) {
			intranet(v1.Service)(job)
			job.Spec.Worker.Template.Spec.DNSPolicy = corev1.DNSDefault
		}, ReasonDNSPolicy, []string{"spec.worker.template.spec.dnsPolicy", "PodIP"}},
		"ephemeral container": {pod(func(s *corev1.PodSpec) { s.EphemeralContainers = []corev1.EphemeralContainer{{}} }), ReasonInvalidTemplate, []string{"ephemeralContainers"}},
		"label":               {func(job *v1.PaddleJob) { job.Spec.Worker.Template.Labels = map[string]string{"a": "b c"} }, ReasonInvalidTemplate, []string{"spec.worker.template.metadata.labels", "b c"}},
		"annotation":          {func(job *v1.PaddleJob) { job.Spec.Worker.Template.Annotations = map[string]string{"a b": ""} }, ReasonInvalidTemplate, []string{"spec.worker.template.metadata.annotations", "a b"}},
		"node selector":       {pod(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a": "b c"} }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.nodeSelector", "b c"}},
		"priority class":      {pod(func(s *corev1.PodSpec) { s.PriorityClassName = "High" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.priorityClassName", "High"}},
		"service account":     {pod(func(s *corev1.PodSpec) { s.ServiceAccountName = "My" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.serviceAccountName", "My"}},
		"container name":      {container(func(c *corev1.Container) { c.Name = "Paddle" }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.containers[0].name", "Paddle"}},
		"same name twice": {pod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "paddle", Image: "i"}}
		}), ReasonInvalidTemplate, []string{"containers[0].name", "taken"}},
		"init container's image": {pod(func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Name: "init"}} }), ReasonInvalidTemplate, []string{"spec.worker.template.spec.initContainers[0].image"}},
		"image":                  {container(func(c *corev1.Container) { c.Image = " " }), ReasonInvalidTemplate, []string{"containers[0].image"}},
		"nameless variable":      {container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A"}, {Value: "b"}} }), ReasonInvalidTemplate, []string{"containers[0].env[1].name"}},
		"variable with =":        {container(func(c *corev1.Container) { c.Env = []corev1.EnvVar{{Name: "A B"}} }), ReasonInvalidTemplate, []string{"A B"}},
		"negative request":       {resources(list("cpu", "-1"), nil), ReasonInvalidTemplate, []string{"containers[0].resources", "cpu", "negative"}},
		"negative limit":         {resources(nil, list("memory", "-1")), ReasonInvalidTemplate, []string{"memory", "negative"}},
		"request above limit":    {resources(list("cpu", "2"), list("cpu", "1")), ReasonInvalidTemplate, []string{"cpu", "above"}},
		"GPU request alone":      {resources(list("nvidia.com/gpu", "1"), nil), ReasonInvalidTemplate, []string{"nvidia.com/gpu", "limit"}},
		"GPU request below":      {resources(list("nvidia.com/gpu", "1"), list("nvidia.com/gpu", "2")), ReasonInvalidTemplate, []string{"nvidia.com/gpu"}},
		"volume name":            {volumes("My"), ReasonInvalidTemplate, []string{"spec.worker.template.spec.volumes[0].name", "My"}},
		"volume twice":           {volumes("d", "d"), ReasonInvalidTemplate, []string{"volumes[1].name", "taken"}},
		"Volcano's volume":       {volumes("wide-svc"), ReasonInvalidTemplate, []string{"wide-svc"}},
		"mount of nothing":       {mounts(corev1.VolumeMount{Name: "x", MountPath: "/x"}), ReasonInvalidTemplate, []string{"containers[0].volumeMounts[0].name", "\"x\""}},
		"mount to nowhere":       {mounts(corev1.VolumeMount{Name: "d"}), ReasonInvalidTemplate, []string{"volumeMounts[0].mountPath"}},
		"path twice":             {mounts(corev1.VolumeMount{Name: "d", MountPath: "/d"}, corev1.VolumeMount{Name: "d", MountPath: "/d"}), ReasonInvalidTemplate, []string{"volumeMounts[1].mountPath"}},
		"Volcano's path":         {mounts(corev1.VolumeMount{Name: "d", MountPath: "/etc/volcano"}), ReasonInvalidTemplate, []string{"/etc/volcano"}},
		"init container's mount": {pod(func(s *corev1.PodSpec) {
			s.InitContainers = []corev1.Container{{Name: "init", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "x", MountPath: "/x"}}}}
		}), ReasonInvalidTemplate, []string{"initContainers[0].volumeMounts[0].name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			found := Validate(paddleJob(0, 2, c.change), Wish{}, Config{})
			require.Len(t, found, 1, "%v", found)
			requireNotice(t, found, c.reason, c.words...)
		})
	}
}

func TestValidateChecksEveryRole(t *testing.T) {
	job := paddleJob(2, 2)
	job.Spec.PS.Template.Spec.SchedulerName = "a"
	job.Spec.Worker.Template.Spec.SchedulerName = "b"
	found := Validate(job, Wish{}, Config{})
	require.Len(t, found, 2)
	require.Contains(t, found[0].Message, "spec.ps.template")
	require.Contains(t, found[1].Message, "spec.worker.template")
}

// Beside Volcano's scheduler ours has a name of its own, and Volcano's is then the other one.
func TestSchedulerOfAnotherName(t *testing.T) {
	job := paddleJob(0, 2)
	beside := Config{SchedulerName: "paddle"}
	got, _ := Job(job, Wish{}, beside)
	require.Equal(t, "paddle", got.Spec.SchedulerName)
	job.Spec.Worker.Template.Spec.SchedulerName = "paddle"
	require.Empty(t, Validate(job, Wish{}, beside))
	job.Spec.Worker.Template.Spec.SchedulerName = DefaultScheduler
	requireNotice(t, Validate(job, Wish{}, beside), ReasonOtherScheduler, `"volcano"`, `use "paddle"`)
}
