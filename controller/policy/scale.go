// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"

	"k8s.io/utils/ptr"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	"github.com/paddle-volcano/paddle-volcano/controller/render"
	"github.com/paddle-volcano/paddle-volcano/controller/view"
)

// scale gives the Volcano Job of an elastic job as many workers as the spec has now. Volcano makes and deletes the pods,
// and the PodGroup follows the Job.
func (p *Plan) scale(v *view.View, cfg render.Config) {
	if !render.Scalable(v.Job) || p.Unapplied != nil || specChanged(v) || endCertain(v) {
		return
	}
	job, held := p.held(v)
	want, _ := render.Job(job, wishOf(v), cfg)
	if SameSize(want, v.VolcanoJob) {
		return
	}
	if refused := render.Validate(job, wishOf(v), cfg); len(refused) > 0 {
		p.Unapplied = joined(ReasonSpecChangeRefused, refused)
		return
	}
	scaled := v.VolcanoJob.DeepCopy()
	scaled.Spec.MinAvailable = want.Spec.MinAvailable
	for i := range scaled.Spec.Tasks {
		scaled.Spec.Tasks[i].Replicas = want.Spec.Tasks[i].Replicas
		scaled.Spec.Tasks[i].MinAvailable = want.Spec.Tasks[i].MinAvailable
	}
	p.do(ScaleVolcanoJob{Job: scaled, Held: held})
}

// SameSize reports whether two Volcano Jobs of the same roles have the same numbers of pods.
func SameSize(a, b *vcbatch.Job) bool {
	return len(a.Spec.Tasks) != len(b.Spec.Tasks) || slices.EqualFunc(a.Spec.Tasks, b.Spec.Tasks, func(a, b vcbatch.TaskSpec) bool {
		return a.Replicas == b.Replicas && ptr.Equal(a.MinAvailable, b.MinAvailable)
	})
}
