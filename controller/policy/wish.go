// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"
	vcscheduling "volcano.sh/apis/pkg/apis/scheduling/v1beta1"

	"github.com/paddle-volcano/paddle-volcano/controller/keys"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// wishOf reads what the user's own PodGroup and the namespace ask for.
func wishOf(v *view.View) render.Wish {
	wish := render.Wish{NamespaceQueue: v.NamespaceQueue}
	if v.VolcanoJob != nil {
		wish.NamespaceQueue = v.VolcanoJob.Spec.Queue // the namespace's counts when the Volcano Job is created
	}
	if v.Wanted != nil {
		wish.MinMember = v.Wanted.Spec.MinMember
		wish.Queue = v.Wanted.Spec.Queue
		wish.PriorityClassName = v.Wanted.Spec.PriorityClassName
	}
	return wish
}

// lateWish heeds a PodGroup of the user's own that the Volcano Job was made without, and says whether the Volcano Job
// goes: paddle-operator's documents have the PodGroup stand behind the PaddleJob, so it mostly comes second.
func (p *Plan) lateWish(v *view.View, cfg render.Config) bool {
	if v.Wanted == nil || v.Ended() || specChanged(v) ||
		v.VolcanoJob.Annotations[keys.OwnPodGroup] == string(v.Wanted.UID) {
		return false
	}
	wish := wishOf(v)
	if refused := render.Validate(v.Job, wish, cfg); len(refused) > 0 {
		p.do(NotePodGroup{PodGroup: v.Wanted, Event: podGroupIgnored(v.Wanted, joined("", refused).Message)})
		return false
	}
	want, _ := render.Job(v.Job, wish, cfg)
	switch {
	case sameGang(want, v.VolcanoJob):
		p.do(NotePodGroup{PodGroup: v.Wanted, Event: podGroupTaken(v.Wanted)})
		return false
	case begun(v):
		p.do(NotePodGroup{PodGroup: v.Wanted, Event: podGroupIgnored(v.Wanted, "it came after pods were placed; delete the "+
			"PaddleJob and create it again, with spec.schedulingPolicy instead of the PodGroup")})
		return false
	}
	p.startOver(v, fmt.Sprintf("the PodGroup %s that you made asks for another gang, so the Volcano Job is deleted and made anew", v.Wanted.Name))
	return true
}

// sameGang says whether two Volcano Jobs have all that a PodGroup can ask for in common.
func sameGang(a, b *vcbatch.Job) bool {
	return a.Spec.Queue == b.Spec.Queue && a.Spec.PriorityClassName == b.Spec.PriorityClassName &&
		a.Spec.MinAvailable == b.Spec.MinAvailable &&
		slices.EqualFunc(a.Spec.Tasks, b.Spec.Tasks, func(a, b vcbatch.TaskSpec) bool {
			return ptr.Equal(a.MinAvailable, b.MinAvailable) &&
				a.Template.Spec.PriorityClassName == b.Template.Spec.PriorityClassName
		})
}

func podGroupTaken(group *vcscheduling.PodGroup) Event {
	return Event{
		Type:   corev1.EventTypeNormal,
		Reason: ReasonPodGroupNotNeeded,
		Message: fmt.Sprintf("took minMember, queue and priorityClassName from the PodGroup %s that you made; the object "+
			"itself is not needed: delete it, and set spec.schedulingPolicy instead", group.Name),
	}
}

func podGroupIgnored(group *vcscheduling.PodGroup, why string) Event {
	return Event{
		Type:    corev1.EventTypeWarning,
		Reason:  ReasonPodGroupNotApplied,
		Message: fmt.Sprintf("the PodGroup %s that you made has no effect: %s", group.Name, why),
	}
}
