// SPDX-License-Identifier: Apache-2.0

package render

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
)

// minResources is what the smallest gang of a Job takes, counted as a ResourceQuota counts pods. Tasks whose pods have
// the higher priority come first. Source: calcPGMinResources and TasksPriority in volcano/pkg/controllers/job, v1.14.1.
func minResources(job *vcbatch.Job, priority func(className string) int32) corev1.ResourceList {
	tasks := byPriority(job.Spec.Tasks, priority)
	var least int64
	for _, task := range tasks {
		least += int64(atLeast(task))
	}
	sum := corev1.ResourceList{}
	left := job.Spec.MinAvailable
	take := func(task *vcbatch.TaskSpec, most int32) {
		if n := min(most, left); n > 0 {
			addTimes(sum, usage(&task.Template.Spec), n)
			left -= n
		}
	}
	if int64(job.Spec.MinAvailable) < least {
		// The tasks' own minimums cannot all be met, so the scheduler does not look at them.
		for _, task := range tasks {
			take(task, task.Replicas)
		}
		return sum
	}
	for _, task := range tasks {
		if task.MinAvailable != nil {
			take(task, *task.MinAvailable)
		}
	}
	for _, task := range tasks {
		if task.MinAvailable == nil {
			take(task, task.Replicas)
		} else {
			take(task, task.Replicas-*task.MinAvailable)
		}
	}
	return sum
}

func atLeast(task *vcbatch.TaskSpec) int32 {
	if task.MinAvailable != nil {
		return *task.MinAvailable
	}
	return task.Replicas
}

// byPriority sorts by the priority of the tasks' pods, greatest first; ties stay in the order of the Job.
func byPriority(tasks []vcbatch.TaskSpec, priority func(className string) int32) []*vcbatch.TaskSpec {
	values := make(map[string]int32, len(tasks))
	sorted := make([]*vcbatch.TaskSpec, len(tasks))
	for i := range tasks {
		sorted[i] = &tasks[i]
		if class := tasks[i].Template.Spec.PriorityClassName; class != "" {
			values[class] = priority(class)
		}
	}
	slices.SortStableFunc(sorted, func(a, b *vcbatch.TaskSpec) int {
		return cmp.Compare(values[b.Template.Spec.PriorityClassName], values[a.Template.Spec.PriorityClassName])
	})
	return sorted
}

// usage is what one pod counts for in a quota: its requests under their own name and under "requests.", its limits
// under "limits.", and itself twice. Extended resources have no limits there.
func usage(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: *spec}
	requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	limits := resourcehelper.PodLimits(pod, resourcehelper.PodResourcesOptions{})
	used := corev1.ResourceList{
		corev1.ResourcePods: *resource.NewQuantity(1, resource.DecimalSI),
		"count/pods":        *resource.NewQuantity(1, resource.DecimalSI),
	}
	for name, quantity := range requests {
		if isCompute(name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) || isExtended(name) {
			used[name] = quantity
			used[corev1.DefaultResourceRequestsPrefix+name] = quantity
		}
	}
	for name, quantity := range limits {
		if isCompute(name) {
			used["limits."+name] = quantity
		}
	}
	return used
}

func isCompute(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage
}

// isExtended is Kubernetes' own rule for resources such as nvidia.com/gpu.
func isExtended(name corev1.ResourceName) bool {
	text := string(name)
	return strings.Contains(text, "/") && !strings.Contains(text, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+text)) == 0
}

func addTimes(sum, list corev1.ResourceList, times int32) {
	for name, quantity := range list {
		quantity = quantity.DeepCopy()
		quantity.Mul(int64(times))
		if have, ok := sum[name]; ok {
			have.Add(quantity)
			quantity = have
		}
		sum[name] = quantity
	}
}
