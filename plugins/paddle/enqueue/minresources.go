// SPDX-License-Identifier: Apache-2.0

// Package enqueue finds out why Volcano does not admit a job (PodGroup phase Inqueue), before which the job has no pods.
package enqueue

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"volcano.sh/volcano/pkg/scheduler/api"

	"github.com/paddle-volcano/paddle-volcano/plugins/paddle/report"
)

// Raised is the PodGroups of a session whose minResources are raised as long as it votes, so that Volcano's own plugins count
// them. A user cannot write them there: Volcano's Job controller computes them from the templates and writes them again and again.
type Raised struct {
	others map[*api.PodGroup]*corev1.ResourceList // what a PodGroup does not have now: its own minResources while they are raised
	raised bool
}

// Add raises the minResources of a job's PodGroup.
func (r *Raised) Add(job *api.JobInfo, least *api.Resource) {
	had := job.PodGroup.Spec.MinResources
	list := maps.Clone(*had)
	minimum := job.GetMinResources()
	for _, name := range least.ResourceNames() {
		if amount := least.Get(name); amount > minimum.Get(name) {
			list[name] = resource.MustParse(report.Quantity(name, amount))
		}
	}
	if r.others == nil {
		r.others = map[*api.PodGroup]*corev1.ResourceList{}
	}
	job.PodGroup.Spec.MinResources, r.others[job.PodGroup], r.raised = &list, had, true
}

// Set raises the minResources of all PodGroups that were added, or takes that back. They must not be raised when allocate
// places pods, and when the session writes PodGroups.
func (r *Raised) Set(raised bool) {
	if r.raised == raised {
		return
	}
	for group, other := range r.others {
		r.others[group], group.Spec.MinResources = group.Spec.MinResources, other
	}
	r.raised = raised
}
