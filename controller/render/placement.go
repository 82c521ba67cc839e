// SPDX-License-Identifier: Apache-2.0

package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/keys"
)

// Bounds of what the scheduler's plugin takes.
const (
	largestModel       = "1Pi"
	largestGroup int32 = 1 << 16
)

// topology is the job's limit in the terms of a Volcano Job, nil for none. A limit without a mode is hard, as Volcano's
// CRD has it.
func topology(job *v1.PaddleJob) *vcbatch.NetworkTopologySpec {
	policy := job.Spec.SchedulingPolicy
	if policy == nil || policy.NetworkTopology == nil {
		return nil
	}
	limit := policy.NetworkTopology.DeepCopy()
	mode := vcbatch.HardNetworkTopologyMode
	if limit.Mode == v1.TopologySoft {
		mode = vcbatch.SoftNetworkTopologyMode
	}
	return &vcbatch.NetworkTopologySpec{Mode: mode, HighestTierAllowed: limit.HighestTierAllowed, HighestTierName: limit.HighestTierName}
}

// placementAnnotations tell the scheduler's plugin what the user set in spec.schedulingPolicy and Volcano has no field
// for. They win over annotations of the same keys that the user gave the PaddleJob.
func placementAnnotations(job *v1.PaddleJob) map[string]string {
	policy := job.Spec.SchedulingPolicy
	if policy == nil {
		return nil
	}
	all := map[string]string{}
	if policy.Colocation != "" {
		all[keys.Colocation] = string(policy.Colocation)
	}
	if policy.ParameterSize != nil {
		size := policy.ParameterSize.DeepCopy() // String changes what it is asked of
		all[keys.ParameterSize] = size.String()
	}
	if policy.ParallelGroupSize != nil {
		all[keys.GroupSize] = strconv.Itoa(int(*policy.ParallelGroupSize))
	}
	if len(policy.MinResources) > 0 {
		all[keys.MinResources] = amounts(policy.MinResources)
	}
	return all
}

// amounts of resources as text, such as cpu=4,memory=8Gi, by name.
func amounts(list corev1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		all = append(all, string(name)+"="+quantity.String())
	}
	return strings.Join(all, ",")
}

func (n *notices) checkPlacement(job *v1.PaddleJob) {
	policy := job.Spec.SchedulingPolicy
	if policy == nil {
		return
	}
	const field = "spec.schedulingPolicy."
	if limit := policy.NetworkTopology; limit != nil {
		switch limit.Mode {
		case "", v1.TopologyHard, v1.TopologySoft:
		default:
			n.add(ReasonInvalidTopology, field+"networkTopology.mode %q does not exist: use hard or soft", string(limit.Mode))
		}
		if limit.HighestTierAllowed != nil && limit.HighestTierName != "" {
			n.add(ReasonInvalidTopology, field+"networkTopology has highestTierAllowed and highestTierName: keep one of them")
		}
		if limit.HighestTierAllowed != nil && *limit.HighestTierAllowed < 0 {
			n.add(ReasonInvalidTopology, field+"networkTopology.highestTierAllowed is %d: set it to 0 (one node) or more", *limit.HighestTierAllowed)
		}
		if limit.Mode != v1.TopologySoft && limit.HighestTierAllowed == nil && limit.HighestTierName == "" {
			n.add(ReasonInvalidTopology, field+"networkTopology is hard and names no tier: set highestTierAllowed or highestTierName, or mode: soft")
		}
	}
	switch policy.Colocation {
	case "", "Required", "Preferred", "None":
	default:
		n.add(ReasonInvalidColocation, field+"colocation %q does not exist: use Required, Preferred or None", string(policy.Colocation))
	}
	if policy.ParameterSize != nil {
		size := policy.ParameterSize.DeepCopy()
		if size.Sign() <= 0 || size.Cmp(resource.MustParse(largestModel)) > 0 {
			n.add(ReasonInvalidParameterSize, field+"parameterSize is %s: set it to the bytes of the model's parameters, such as 2Gi, at most %s, "+
				"or leave it out", size.String(), largestModel)
		}
	}
	if group := policy.ParallelGroupSize; group != nil && (*group < 1 || *group > largestGroup) {
		n.add(ReasonInvalidGroupSize, field+"parallelGroupSize is %d: set it to the GPUs of one tensor or pipeline parallel group, at most %d, "+
			"or leave it out", *group, largestGroup)
	}
	for _, name := range slices.Sorted(maps.Keys(policy.MinResources)) {
		if quantity := policy.MinResources[name]; quantity.Sign() < 0 {
			n.add(ReasonInvalidMinResources, field+"minResources: %s of %s is below nothing: leave it out", quantity.String(), name)
		}
	}
}
