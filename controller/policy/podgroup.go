// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
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

// podGroupDiffers compares what we set; others may add labels and annotations of their own.
func podGroupDiffers(have, want *vcscheduling.PodGroup) bool {
	return !equality.Semantic.DeepEqual(have.Spec, want.Spec) ||
		!equality.Semantic.DeepEqual(have.OwnerReferences, want.OwnerReferences) ||
		lacks(have.Labels, want.Labels) || lacks(have.Annotations, want.Annotations)
}

func lacks(have, want map[string]string) bool {
	for key := range maps.Keys(want) {
		if value, ok := have[key]; !ok || value != want[key] {
			return true
		}
	}
	return false
}
