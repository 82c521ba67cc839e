// SPDX-License-Identifier: Apache-2.0

package enqueue

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"volcano.sh/volcano/pkg/scheduler/api"
)

// raised is a PodGroup of the session whose minResources were raised, and what they were.
type raised struct {
	group *api.PodGroup
	had   *corev1.ResourceList
}

// raise raises the minResources of a job's PodGroup for as long as the session votes, so that Volcano's own plugins count
// them. A user cannot write them there: Volcano's Job controller computes them from the templates and writes them again and
// again.
func (p *Probe) raise(job *api.JobInfo, least *api.Resource) {
	had := job.PodGroup.Spec.MinResources
	list := maps.Clone(*had)
	minimum := job.GetMinResources()
	for _, name := range least.ResourceNames() {
		if amount := least.Get(name); amount > minimum.Get(name) {
			list[name] = quantity(name, amount)
		}
	}
	job.PodGroup.Spec.MinResources = &list
	p.raised = append(p.raised, raised{job.PodGroup, had})
}

// quantity converts an amount of Volcano's.
func quantity(name corev1.ResourceName, amount float64) resource.Quantity {
	if name == corev1.ResourceMemory {
		return *resource.NewQuantity(int64(amount), resource.BinarySI)
	}
	return *resource.NewMilliQuantity(int64(amount), resource.DecimalSI)
}
