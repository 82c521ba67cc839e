// SPDX-License-Identifier: Apache-2.0

package podgroup

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// generator creates jobs. The same seed makes the same ones.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 0))} }

func (d generator) odds(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d generator, from ...T) T { return from[d.IntN(len(from))] }

// quantities are written in all the ways that users do; some have more than one spelling of one value.
var quantities = map[corev1.ResourceName][]string{
	corev1.ResourceCPU:              {"1", "1000m", "250m", "2.5", "0", "10", "1e2"},
	corev1.ResourceMemory:           {"1Gi", "1024Mi", "100M", "0", "1500Ki", "1e9"},
	corev1.ResourceEphemeralStorage: {"1Gi", "10Gi"},
	"nvidia.com/gpu":                {"1", "2", "8"},
	"hugepages-2Mi":                 {"4Mi"},
	"kubernetes.io/batch-cpu":       {"100"},
}

func (d generator) list() corev1.ResourceList {
	var list corev1.ResourceList
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "nvidia.com/gpu", "hugepages-2Mi", "kubernetes.io/batch-cpu"} {
		if d.odds(50) {
			if list == nil {
				list = corev1.ResourceList{}
			}
			list[name] = resource.MustParse(pick(d, quantities[name]...))
		}
	}
	return list
}

// resources returns requests only, limits only, both mixed, or nothing.
func (d generator) resources() corev1.ResourceRequirements {
	return pick(d,
		corev1.ResourceRequirements{Requests: d.list()}, corev1.ResourceRequirements{Limits: d.list()},
		corev1.ResourceRequirements{Requests: d.list(), Limits: d.list()}, corev1.ResourceRequirements{})
}

func (d generator) containers(kind string, n int) []corev1.Container {
	var containers []corev1.Container
	for i := range n {
		container := corev1.Container{Name: fmt.Sprintf("%s-%d", kind, i), Image: "paddle", Resources: d.resources()}
		if kind == "init" && d.odds(40) {
			container.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		containers = append(containers, container)
	}
	return containers
}

func (d generator) template() corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: d.containers("main", 1+d.IntN(3)), InitContainers: d.containers("init", d.IntN(4)),
		PriorityClassName: pick(d, "", "", "low", "medium", "high", "unknown"),
	}}
	if d.odds(20) {
		template.Spec.Overhead = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("120Mi")}
	}
	if d.odds(20) {
		template.Spec.Resources = &corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("6"), corev1.ResourceMemory: resource.MustParse("8Gi")},
		}
	}
	return template
}

// volcanoJob returns any Job as the builder makes them: its minimum is the sum of its tasks', which have no partition policy.
func (d generator) volcanoJob(name string) *vcbatch.Job {
	job := &vcbatch.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "train"},
		Spec:       vcbatch.JobSpec{Queue: "default", PriorityClassName: pick(d, "", "low", "high"), SchedulerName: "volcano"},
	}
	if d.odds(50) {
		job.Labels, job.Annotations = map[string]string{"team": "ctr"}, map[string]string{"volcano.sh/preemptable": "true", "note": "x"}
	}
	for i := range 1 + d.IntN(4) {
		task := vcbatch.TaskSpec{Name: fmt.Sprintf("task%d", i), Replicas: 1 + d.Int32N(6), Template: d.template()}
		task.MinAvailable = ptr.To(1 + d.Int32N(task.Replicas))
		job.Spec.MinAvailable += *task.MinAvailable
		job.Spec.Tasks = append(job.Spec.Tasks, task)
	}
	if d.odds(30) {
		job.Spec.NetworkTopology = d.topology()
	}
	return job
}

func (d generator) topology() *vcbatch.NetworkTopologySpec {
	topology := &vcbatch.NetworkTopologySpec{
		Mode:               pick(d, vcbatch.HardNetworkTopologyMode, vcbatch.SoftNetworkTopologyMode),
		HighestTierAllowed: pick(d, nil, ptr.To(1), ptr.To(2)),
	}
	if topology.HighestTierAllowed == nil {
		topology.HighestTierName = pick(d, "", "rack")
	}
	return topology
}

// paddleJob returns any PaddleJob that has what it needs to train.
func (d generator) paddleJob(name string) *v1.PaddleJob {
	role := func() *v1.ResourceSpec { return &v1.ResourceSpec{Replicas: 1 + d.Int32N(5), Template: d.template()} }
	job := &v1.PaddleJob{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "train", UID: "p"}, Spec: v1.PaddleJobSpec{Worker: role()}}
	total := job.Spec.Worker.Replicas
	if d.odds(60) {
		job.Spec.PS = role()
		total += job.Spec.PS.Replicas
	}
	if d.odds(70) {
		job.Spec.SchedulingPolicy = &v1.SchedulingPolicy{Queue: pick(d, "", "default"), PriorityClass: pick(d, "", "low", "high")}
		if d.odds(70) {
			job.Spec.SchedulingPolicy.MinAvailable = ptr.To(1 + d.Int32N(total))
		}
	}
	return job
}
