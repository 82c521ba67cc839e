// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"
)

func TestPodGroup(t *testing.T) {
	job, _ := mustJob(t, paddleJob(2, 4, minAvailable(4)))
	job.UID = "77"
	job.Spec.Queue, job.Spec.PriorityClassName = "q", "high"
	got := PodGroup(job)
	require.Equal(t, metav1.TypeMeta{APIVersion: "scheduling.volcano.sh/v1beta1", Kind: "PodGroup"}, got.TypeMeta)
	require.Equal(t, "wide-77", got.Name)
	require.Equal(t, "train", got.Namespace)
	require.Equal(t, job.Labels, got.Labels)
	require.Equal(t, job.Annotations, got.Annotations)
	require.Equal(t, []metav1.OwnerReference{{
		APIVersion: "batch.volcano.sh/v1alpha1", Kind: "Job", Name: "wide", UID: "77",
		Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
	}}, got.OwnerReferences)
	require.EqualValues(t, 4, got.Spec.MinMember)
	require.Equal(t, map[string]int32{"ps": 2, "worker": 2}, got.Spec.MinTaskMember)
	require.Equal(t, "q", got.Spec.Queue)
	require.Equal(t, "high", got.Spec.PriorityClassName)
	require.Equal(t, map[string]string{"pods": "4", "count/pods": "4"}, text(*got.Spec.MinResources))
	require.Nil(t, got.Spec.NetworkTopology)
	require.Empty(t, got.Spec.SubGroupPolicy)

	got.Labels["a"] = "b"
	require.NotContains(t, job.Labels, "a", "what is rendered shares memory with the Job")
}

func TestPodGroupTopology(t *testing.T) {
	topology := &vcbatch.NetworkTopologySpec{Mode: vcbatch.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)}
	job := &vcbatch.Job{Spec: vcbatch.JobSpec{NetworkTopology: topology}}
	got := PodGroup(job).Spec
	require.Equal(t, &vcscheduling.NetworkTopologySpec{Mode: vcscheduling.HardNetworkTopologyMode, HighestTierAllowed: ptr.To(2)}, got.NetworkTopology)

	*got.NetworkTopology.HighestTierAllowed = 9
	require.Equal(t, 2, *topology.HighestTierAllowed, "what is rendered shares memory with the Job")
	topology.HighestTierAllowed, topology.HighestTierName = nil, "rack"
	require.Equal(t, "rack", PodGroup(job).Spec.NetworkTopology.HighestTierName)
}

// taskWith is a task of pods with one container that requests cpu.
func taskWith(name string, replicas, least int32, cpu string) vcbatch.TaskSpec {
	task := vcbatch.TaskSpec{Name: name, Replicas: replicas, MinAvailable: &least}
	task.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Requests: list("cpu", cpu)},
	}}}
	return task
}

func TestMinResourcesCounts(t *testing.T) {
	// A pod of a takes 1 CPU, one of b 100.
	cases := map[string]struct {
		a, b vcbatch.TaskSpec
		cpu  string
		pods string
	}{
		"all":                               {taskWith("a", 2, 2, "1"), taskWith("b", 3, 3, "100"), "302", "5"},
		"the minimums":                      {taskWith("a", 2, 2, "1"), taskWith("b", 3, 1, "100"), "102", "3"},
		"the minimums, and not whole roles": {taskWith("a", 4, 1, "1"), taskWith("b", 4, 1, "100"), "101", "2"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := text(*PodGroup(&vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{c.a, c.b}}}).Spec.MinResources)
			require.Equal(t, map[string]string{"cpu": c.cpu, "requests.cpu": c.cpu, "pods": c.pods, "count/pods": c.pods}, got)
		})
	}
}

func TestUsage(t *testing.T) {
	always := ptr.To(corev1.ContainerRestartPolicyAlways)
	container := func(requests, limits corev1.ResourceList, restart *corev1.ContainerRestartPolicy) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits}, RestartPolicy: restart}
	}
	one := map[string]string{"pods": "1", "count/pods": "1"}
	cases := map[string]struct {
		spec corev1.PodSpec
		want map[string]string
	}{
		"nothing requested": {corev1.PodSpec{Containers: []corev1.Container{{}}}, one},
		"requests and limits": {
			corev1.PodSpec{Containers: []corev1.Container{
				container(list("cpu", "1", "memory", "1Gi", "ephemeral-storage", "2Gi"), list("cpu", "2", "memory", "3Gi", "ephemeral-storage", "4Gi"), nil),
				container(list("cpu", "500m"), nil, nil),
			}},
			map[string]string{
				"cpu": "1500m", "requests.cpu": "1500m", "limits.cpu": "2",
				"memory": "1Gi", "requests.memory": "1Gi", "limits.memory": "3Gi",
				"ephemeral-storage": "2Gi", "requests.ephemeral-storage": "2Gi", "limits.ephemeral-storage": "4Gi",
			},
		},
		"devices and huge pages": {
			corev1.PodSpec{Containers: []corev1.Container{container(
				list("nvidia.com/gpu", "2", "hugepages-2Mi", "4Mi", "kubernetes.io/batch-cpu", "1", "requests.x/y", "1", "strange", "1"),
				list("nvidia.com/gpu", "2", "hugepages-2Mi", "4Mi"), nil)}},
			map[string]string{"nvidia.com/gpu": "2", "requests.nvidia.com/gpu": "2", "hugepages-2Mi": "4Mi", "requests.hugepages-2Mi": "4Mi"},
		},
		"init container, sidecar and overhead": {
			corev1.PodSpec{
				Containers: []corev1.Container{container(list("cpu", "1"), nil, nil)},
				InitContainers: []corev1.Container{
					container(list("cpu", "2"), nil, always),
					container(list("cpu", "5"), nil, nil),
				},
				Overhead: list("cpu", "100m"),
			},
			map[string]string{"cpu": "7100m", "requests.cpu": "7100m"},
		},
		"the pod's own": {
			corev1.PodSpec{
				Containers: []corev1.Container{container(list("cpu", "1"), nil, nil)},
				Resources:  &corev1.ResourceRequirements{Requests: list("cpu", "3"), Limits: list("cpu", "4")},
			},
			map[string]string{"cpu": "3", "requests.cpu": "3", "limits.cpu": "4"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, merged(one, c.want), text(usage(&c.spec)))
		})
	}
}

// Volcano adds up pod by pod; what is multiplied must be the same, also beyond 64 bits.
func TestAddTimes(t *testing.T) {
	sum := list("cpu", "1n")
	addTimes(sum, list("cpu", "333u", "memory", "4Ei"), 1000)
	require.Equal(t, map[string]string{"cpu": "333000001n", "memory": "4000Ei"}, text(sum))

	job := &vcbatch.Job{Spec: vcbatch.JobSpec{Tasks: []vcbatch.TaskSpec{taskWith("a", 3, 3, "20000000000000000000")}}}
	require.Equal(t, map[string]string{"cpu": "60E", "requests.cpu": "60E", "pods": "3", "count/pods": "3"},
		text(*PodGroup(job).Spec.MinResources), "two names of one quantity must not be one number in memory")
}
