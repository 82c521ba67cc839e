// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// PodGroup is the one that Volcano's Job controller makes for a Job, equal in every field: whichever of the two comes
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
	delete(group.Annotations, keys.FirstPort) // it comes and goes with the gang's placement, and nobody reads it here
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
