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

// Raised is the PodGroups of a session whose minResources were raised, and what they were.
type Raised map[*api.PodGroup]*corev1.ResourceList

// Raise raises the minResources of a job's PodGroup until Restore, so that Volcano's own plugins count them. A user cannot
// write them there: Volcano's Job controller computes them from the templates and writes them again and again.
func (r Raised) Raise(job *api.JobInfo, least *api.Resource) {
	had := job.PodGroup.Spec.MinResources
	list := maps.Clone(*had)
	minimum := job.GetMinResources()
	for _, name := range least.ResourceNames() {
		if amount := least.Get(name); amount > minimum.Get(name) {
			list[name] = resource.MustParse(report.Quantity(name, amount))
		}
	}
	job.PodGroup.Spec.MinResources = &list
	r[job.PodGroup] = had
}

// Restore takes back all raises. It must be called before the session writes PodGroups.
func (r Raised) Restore() {
	for group, had := range r {
		group.Spec.MinResources = had
	}
	clear(r)
}
