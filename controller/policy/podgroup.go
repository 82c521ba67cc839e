// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// WantsPodGroup says whether the gang of a Volcano Job in this phase is to be scheduled. Volcano deletes the PodGroup on
// every restart and at the end, and one that is made meanwhile would hold room in the queue for nothing.
func WantsPodGroup(phase vcbatch.JobPhase) bool {
	return phase == "" || phase == vcbatch.Pending || phase == vcbatch.Running
}

// podGroup makes the PodGroup that the pods' annotation names, and mends it where it differs. One that is left over goes
// when the job has finished (cleanUp): until then Volcano is about to delete it.
func (p *Plan) podGroup(v *view.View) {
	if !WantsPodGroup(v.VolcanoJob.Status.State.Phase) || v.Succeeded() {
		return
	}
	want := render.PodGroup(v.VolcanoJob, func(class string) int32 {
		value, _ := v.Priority(class)
		return value
	})
	if v.PodGroup == nil || (v.PodGroup.DeletionTimestamp == nil && podGroupDiffers(v.PodGroup, want)) {
		p.do(ApplyPodGroup{PodGroup: want})
	}
}

// podGroupDiffers reports whether the PodGroup lacks something of what the controller owns (PodGroupOwned). Others may add
// to it, and the rest of the spec is Volcano's Job controller's to keep.
func podGroupDiffers(have, want *vcscheduling.PodGroup) bool {
	return have.Spec.Queue != want.Spec.Queue || have.Spec.MinMember != want.Spec.MinMember ||
		!maps.Equal(have.Spec.MinTaskMember, want.Spec.MinTaskMember) || topologyDiffers(have.Spec.NetworkTopology, want.Spec.NetworkTopology) ||
		lacks(have.Labels, want.Labels) || lacks(have.Annotations, want.Annotations) ||
		slices.ContainsFunc(want.OwnerReferences, func(owner metav1.OwnerReference) bool {
			return !slices.ContainsFunc(have.OwnerReferences, func(o metav1.OwnerReference) bool { return equality.Semantic.DeepEqual(o, owner) })
		})
}

func topologyDiffers(have, want *vcscheduling.NetworkTopologySpec) bool {
	if want == nil {
		return false
	}
	return have == nil || have.Mode != want.Mode ||
		(want.HighestTierAllowed != nil && !ptr.Equal(have.HighestTierAllowed, want.HighestTierAllowed)) ||
		(want.HighestTierName != "" && have.HighestTierName != want.HighestTierName)
}

// PodGroupOwned is what the controller owns of a PodGroup that exists, for server-side apply: the gang's size, without which
// a part of it could start, its queue, its topology and metadata. Volcano's Job controller updates minResources,
// priorityClassName and subGroupPolicy, and whoever owned them too would revert what another release of Volcano writes there.
func PodGroupOwned(whole *vcscheduling.PodGroup) map[string]any {
	metadata := map[string]any{
		"name": whole.Name, "namespace": whole.Namespace, "labels": whole.Labels, "annotations": whole.Annotations,
		"ownerReferences": whole.OwnerReferences,
	}
	spec := map[string]any{"queue": whole.Spec.Queue, "minMember": whole.Spec.MinMember, "minTaskMember": whole.Spec.MinTaskMember}
	if topology := whole.Spec.NetworkTopology; topology != nil {
		spec["networkTopology"] = topology
	}
	return map[string]any{
		"apiVersion": vcscheduling.SchemeGroupVersion.String(), "kind": "PodGroup", "metadata": metadata, "spec": spec,
	}
}

func lacks(have, want map[string]string) bool {
	for key := range maps.Keys(want) {
		if value, ok := have[key]; !ok || value != want[key] {
			return true
		}
	}
	return false
}
