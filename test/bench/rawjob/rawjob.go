// SPDX-License-Identifier: Apache-2.0

// Package rawjob makes the raw Volcano Job that is equal to a PaddleJob, for benchmarks that compare the two.
package rawjob

import (
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// Of is what the controller would make, without anything of the controller's.
func Of(job *v1.PaddleJob) *vcbatch.Job {
	raw, _ := render.Job(job, render.Wish{}, render.Config{DefaultIntranet: v1.PodIP})
	raw.Labels, raw.Annotations, raw.OwnerReferences = nil, nil, nil
	for t := range raw.Spec.Tasks {
		template := &raw.Spec.Tasks[t].Template
		template.Labels = nil
		for c := range template.Spec.Containers {
			template.Spec.Containers[c].EnvFrom = nil // nobody makes the ConfigMap
		}
	}
	return raw
}
