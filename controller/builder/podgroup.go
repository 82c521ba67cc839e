// SPDX-License-Identifier: Apache-2.0

package builder

import (
	"cmp"
	"maps"
	"slices"
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

// PodGroup is the one that Volcano's Job controller creates for a Job, equal in every field: whichever of the two is
// first, the other has nothing to change. Priority gives the value of a priority class, and 0 for one that does not exist.
// Source: createOrUpdatePodGroup in volcano/pkg/controllers/job/job_controller_actions.go, v1.14.1.
func PodGroup(job *vcbatch.Job, priority func(className string) int32) *vcscheduling.PodGroup {
	resources := minResources(job, priority)
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
			MinResources:      &resources,
			NetworkTopology:   jobTopology(job.Spec.NetworkTopology),
		},
	}
	delete(group.Annotations, v1.FirstPortAnnotation) // it comes and goes with the gang's placement, and no program reads it here
	for i := range job.Spec.Tasks {
		task := &job.Spec.Tasks[i]
		group.Spec.MinTaskMember[task.Name] = minTaskMember(task)
		if task.PartitionPolicy != nil {
			group.Spec.SubGroupPolicy = append(group.Spec.SubGroupPolicy, subGroup(task))
		}
	}
	return group
}

func minTaskMember(task *vcbatch.TaskSpec) int32 {
	if task.MinAvailable != nil {
		return *task.MinAvailable
	}
	if parts := task.PartitionPolicy; parts != nil && parts.MinPartitions != 0 && parts.PartitionSize != 0 {
		return parts.MinPartitions * parts.PartitionSize
	}
	return task.Replicas
}

// jobTopology has the tier's number or its name, never both; the number wins.
func jobTopology(topology *vcbatch.NetworkTopologySpec) *vcscheduling.NetworkTopologySpec {
	if topology == nil {
		return nil
	}
	spec := partTopology(topology)
	if spec.HighestTierAllowed != nil {
		spec.HighestTierName = ""
	}
	return spec
}

func partTopology(topology *vcbatch.NetworkTopologySpec) *vcscheduling.NetworkTopologySpec {
	topology = topology.DeepCopy()
	return &vcscheduling.NetworkTopologySpec{
		Mode:               vcscheduling.NetworkTopologyMode(topology.Mode),
		HighestTierAllowed: topology.HighestTierAllowed,
		HighestTierName:    topology.HighestTierName,
	}
}

func subGroup(task *vcbatch.TaskSpec) vcscheduling.SubGroupPolicySpec {
	parts := task.PartitionPolicy.DeepCopy()
	spec := vcscheduling.SubGroupPolicySpec{
		Name:           task.Name,
		SubGroupSize:   &parts.PartitionSize,
		MinSubGroups:   &parts.MinPartitions,
		LabelSelector:  &metav1.LabelSelector{MatchLabels: map[string]string{vcbatch.TaskSpecKey: task.Name}},
		MatchLabelKeys: []string{vcbatch.TaskPartitionID},
	}
	if parts.NetworkTopology != nil {
		spec.NetworkTopology = partTopology(parts.NetworkTopology)
	}
	return spec
}

// minResources is what the smallest gang of a Job takes, counted as a ResourceQuota counts pods. Tasks whose pods have
// the higher priority come first. Source: calcPGMinResources and TasksPriority in volcano/pkg/controllers/job, v1.14.1.
func minResources(job *vcbatch.Job, priority func(className string) int32) corev1.ResourceList {
	tasks := byPriority(job.Spec.Tasks, priority)
	var least int64
	for _, task := range tasks {
		least += int64(ptr.Deref(task.MinAvailable, task.Replicas))
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
		// The tasks' own minimums cannot all be met, so the scheduler ignores them.
		for _, task := range tasks {
			take(task, task.Replicas)
		}
		return sum
	}
	for _, task := range tasks {
		take(task, ptr.Deref(task.MinAvailable, 0))
	}
	for _, task := range tasks {
		take(task, task.Replicas-ptr.Deref(task.MinAvailable, 0))
	}
	return sum
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
		if have, ok := sum[name]; ok {
			have.Add(quantity)
			quantity = have
		}
		sum[name] = quantity
	}
}
