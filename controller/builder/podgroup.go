// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// PodGroup is the one that Volcano's Job controller creates for a Job of this package, equal in every field: whichever of the two is
// first, the other has nothing to change. The Job's minimum is the sum of its tasks', and no task has a partition policy.
// Source: createOrUpdatePodGroup in volcano/pkg/controllers/job/job_controller_actions.go, v1.14.1.
func PodGroup(job *vcbatch.Job) *vcscheduling.PodGroup {
	minResources := corev1.ResourceList{}
	group := &vcscheduling.PodGroup{
		TypeMeta: metav1.TypeMeta{APIVersion: vcscheduling.SchemeGroupVersion.String(), Kind: "PodGroup"},
		ObjectMeta: metav1.ObjectMeta{
			// Every pod that Volcano makes names this PodGroup, and no other.
			Name:            job.Name + "-" + string(job.UID),
			Namespace:       job.Namespace,
			Labels:          maps.Clone(job.Labels),
			Annotations:     maps.Clone(job.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, vcbatch.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: vcscheduling.PodGroupSpec{
			MinMember:         job.Spec.MinAvailable,
			MinTaskMember:     make(map[string]int32, len(job.Spec.Tasks)),
			Queue:             job.Spec.Queue,
			PriorityClassName: job.Spec.PriorityClassName,
			MinResources:      &minResources,
		},
	}
	delete(group.Annotations, v1.FirstPortAnnotation) // it comes and goes with the gang's placement, and no program reads it here
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		least := ptr.Deref(task.MinAvailable, task.Replicas)
		group.Spec.MinTaskMember[task.Name] = least
		addTimes(minResources, usage(&task.Template.Spec), least)
	}
	if topology := job.Spec.NetworkTopology.DeepCopy(); topology != nil {
		group.Spec.NetworkTopology = &vcscheduling.NetworkTopologySpec{
			Mode:               vcscheduling.NetworkTopologyMode(topology.Mode),
			HighestTierAllowed: topology.HighestTierAllowed,
			HighestTierName:    topology.HighestTierName,
		}
	}
	return group
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
		if isCompute(name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) || IsExtended(name) {
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

// IsExtended is Kubernetes' own rule for resources such as nvidia.com/gpu.
func IsExtended(name corev1.ResourceName) bool {
	text := string(name)
	return strings.Contains(text, "/") && !strings.Contains(text, corev1.ResourceDefaultNamespacePrefix) &&
		!strings.HasPrefix(text, corev1.DefaultResourceRequestsPrefix) &&
		len(validation.IsQualifiedName(corev1.DefaultResourceRequestsPrefix+text)) == 0
}

func addTimes(sum, list corev1.ResourceList, times int32) {
	for name, quantity := range list {
		quantity = quantity.DeepCopy()
		quantity.Mul(int64(times))
		have := sum[name]
		have.Add(quantity)
		sum[name] = have
	}
}
