// SPDX-License-Identifier: Apache-2.0

package render

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/apis/batch/v1"
)

// sampleVolume is the name of the volume that holds a sample set.
const sampleVolume = "paddle-sample-set"

// mountSampleSet mounts the claim in container 0, as paddle-operator's data branch does.
func mountSampleSet(spec *corev1.PodSpec, ref *v1.SampleSetRef) {
	if ref == nil || len(spec.Containers) == 0 {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: sampleVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ref.Name},
	}})
	first := &spec.Containers[0]
	first.VolumeMounts = append(first.VolumeMounts, corev1.VolumeMount{Name: sampleVolume, MountPath: ref.MountPath})
}

func (n *notices) checkSampleSet(job *v1.PaddleJob) {
	ref := job.Spec.SampleSetRef
	if ref == nil {
		return
	}
	if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		n.add(ReasonInvalidSampleSet, "spec.sampleSetRef.name %q is not the name of a PersistentVolumeClaim: set it to one of namespace %s",
			ref.Name, job.Namespace)
	}
	if ref.Namespace != "" && ref.Namespace != job.Namespace {
		n.add(ReasonInvalidSampleSet, "spec.sampleSetRef.namespace %q is not the job's namespace %q, and pods mount only claims of their "+
			"own: create the job there, or a claim here", ref.Namespace, job.Namespace)
	}
	if ref.MountPath == "" || strings.Contains(ref.MountPath, ":") {
		n.add(ReasonInvalidSampleSet, "spec.sampleSetRef.mountPath %q cannot be mounted: set it to a path without a colon", ref.MountPath)
		return
	}
	for _, r := range roles(job) {
		spec := &r.spec.Template.Spec
		if slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == sampleVolume }) {
			n.add(ReasonInvalidSampleSet, "%s.template.spec.volumes has a volume %q, which is the name of the sample set's: give it another",
				r.field, sampleVolume)
		}
		if len(spec.Containers) > 0 && slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == ref.MountPath
		}) {
			n.add(ReasonInvalidSampleSet, "spec.sampleSetRef.mountPath %q is taken by a volume mount of %s.template.spec.containers[0]: "+
				"choose another path", ref.MountPath, r.field)
		}
	}
}
