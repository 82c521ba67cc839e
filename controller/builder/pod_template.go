// SPDX-License-Identifier: Apache-2.0

package builder

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/resource"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
)

// podTemplate is the user's template for a role with what makes it a member of the job.
func podTemplate(warnings *Causes, job *v1.PaddleJob, r Role, priority string, least map[string]int32, cfg Config) corev1.PodTemplateSpec {
	template := corev1.PodTemplateSpec{
		// Volcano gives pods their names, and takes nothing else than these two from a template's metadata.
		ObjectMeta: metav1.ObjectMeta{
			Labels:      merged(unreserved(r.Spec.Template.Labels), map[string]string{v1.JobNameLabel: job.Name, v1.ResourceTypeLabel: r.Name}),
			Annotations: merged(unreserved(r.Spec.Template.Annotations), map[string]string{v1.ResourceAnnotation: r.Name}),
		},
		Spec: *r.Spec.Template.Spec.DeepCopy(),
	}
	spec := &template.Spec
	restartPolicy(warnings, spec, r)
	hostNetwork(warnings, spec, job, r, cfg)
	unsetHostnames(warnings, spec, job, r, cfg)
	if spec.PriorityClassName == "" {
		spec.PriorityClassName = priority
	}
	FillRequests(spec)
	addBarrier(spec, job, r, least, cfg)
	mountSampleSet(spec, job.Spec.SampleSetRef)
	addEnvironment(warnings, spec, job, r, cfg)
	return template
}

// restartPolicy sets a policy under which pods end. OnFailure is kept in PS mode, where a restarted worker joins the training,
// and in mode Single, where no other pod waits for it; Validate refuses it for Collective.
func restartPolicy(warnings *Causes, spec *corev1.PodSpec, r Role) {
	switch spec.RestartPolicy {
	case "":
		// Kubernetes would make it Always, under which no worker ever succeeds.
		spec.RestartPolicy = corev1.RestartPolicyNever
	case corev1.RestartPolicyAlways:
		spec.RestartPolicy = corev1.RestartPolicyNever
		warnings.Add(ReasonRestartPolicyChanged, "%s.template.spec.restartPolicy Always is treated as Never, because under Always no "+
			"training ever ends: use Never or OnFailure", r.field())
	}
}

// unsetHostnames unsets the template's host names where pods find each other by those that Volcano's plugin svc sets.
func unsetHostnames(warnings *Causes, spec *corev1.PodSpec, job *v1.PaddleJob, r Role, cfg Config) {
	if Intranet(job, cfg) != v1.Service || (spec.Hostname == "" && spec.Subdomain == "") {
		return
	}
	spec.Hostname, spec.Subdomain = "", ""
	warnings.Add(ReasonHostnameReplaced, "%s.template.spec sets hostname or subdomain, which intranet Service needs for the pods' own names, "+
		"so they have no effect: leave them out, or use spec.intranet: PodIP", r.field())
}

// FillRequests copies limits into requests that are not set, as the API server does with pods but not with templates.
// Volcano sums up templates for the gang's minResources, and a GPU that is given as a limit only would be lost in that.
func FillRequests(spec *corev1.PodSpec) {
	for i := range spec.Containers {
		fillFrom(&spec.Containers[i].Resources.Requests, spec.Containers[i].Resources.Limits, nil)
	}
	for i := range spec.InitContainers {
		fillFrom(&spec.InitContainers[i].Resources.Requests, spec.InitContainers[i].Resources.Limits, nil)
	}
	// For the pod as a whole, what its containers request comes before its limits.
	if pod := spec.Resources; pod != nil && len(pod.Limits) > 0 {
		sum := resource.AggregateContainerRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{})
		fillFrom(&pod.Requests, sum, func(name corev1.ResourceName) bool {
			return name == corev1.ResourceCPU || name == corev1.ResourceMemory
		})
		fillFrom(&pod.Requests, pod.Limits, resource.IsSupportedPodLevelResource)
	}
}

// fillFrom adds to the list what is missing; a nil filter takes everything.
func fillFrom(list *corev1.ResourceList, source corev1.ResourceList, filter func(corev1.ResourceName) bool) {
	for name, quantity := range source {
		if _, set := (*list)[name]; !set && (filter == nil || filter(name)) {
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[name] = quantity.DeepCopy()
		}
	}
}

// SampleVolume is the name of the volume that holds a sample set.
const SampleVolume = "paddle-sample-set"

// mountSampleSet mounts the claim in container 0, as paddle-operator's data branch does.
func mountSampleSet(spec *corev1.PodSpec, ref *v1.SampleSetRef) {
	if ref == nil || len(spec.Containers) == 0 {
		return
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: SampleVolume, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: ref.Name},
	}})
	first := &spec.Containers[0]
	first.VolumeMounts = append(first.VolumeMounts, corev1.VolumeMount{Name: SampleVolume, MountPath: ref.MountPath})
}
