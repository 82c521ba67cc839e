// SPDX-License-Identifier: Apache-2.0

// Package rawjob makes the raw Volcano Job that is equal to a PaddleJob, for benchmarks that compare the two.
package rawjob

import (
	corev1 "k8s.io/api/core/v1"
	vcbatch "volcano.sh/apis/pkg/apis/batch/v1alpha1"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/render"
)

// Of is what the controller would make, without anything of the controller's. Its pods first run the image barrier, as those of
// the controller do to wait for each other; without one they have no init container.
func Of(job *v1.PaddleJob, barrier string) *vcbatch.Job {
	raw, _ := render.Job(job, render.Wish{}, render.Config{DefaultIntranet: v1.PodIP, BarrierImage: barrier})
	raw.Labels, raw.Annotations, raw.OwnerReferences = nil, nil, nil
	for t := range raw.Spec.Tasks {
		template := &raw.Spec.Tasks[t].Template
		template.Labels = nil
		for _, containers := range [][]corev1.Container{template.Spec.InitContainers, template.Spec.Containers} {
			for c := range containers {
				containers[c].EnvFrom = nil // nobody makes the ConfigMap
			}
		}
	}
	return raw
}
