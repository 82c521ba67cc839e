// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/paddle-volcano/paddle-volcano/controller/api/batch/v1"
	"github.com/paddle-volcano/paddle-volcano/controller/builder"
)

// validateTemplate refuses pods that could not be members of a gang, and those that the API server would refuse one by one
// after the gang's Job was accepted.
func validateTemplate(job *v1.PaddleJob, template *corev1.PodTemplateSpec, cfg builder.Config, path *field.Path) field.ErrorList {
	pod, spec := &template.Spec, path.Child("spec")
	errs := validateMembership(job, pod, cfg, spec)
	errs = append(errs, validateNames(template, path)...)
	errs = append(errs, validateContainers(pod, builder.Intranet(job, cfg) == v1.Host, spec)...)
	return append(errs, validateVolumes(pod, job.Name, spec)...)
}

// validateMembership refuses what would take a pod out of the gang, or hide its address.
func validateMembership(job *v1.PaddleJob, pod *corev1.PodSpec, cfg builder.Config, path *field.Path) (errs field.ErrorList) {
	if name := cfg.Scheduler(); pod.SchedulerName != "" && pod.SchedulerName != name {
		errs = append(errs, field.Invalid(path.Child("schedulerName"), pod.SchedulerName, fmt.Sprintf(
			"it would place pods outside of the job's gang: use %q or leave it out", name)))
	}
	if builder.Intranet(job, cfg) == v1.Service && pod.DNSPolicy == corev1.DNSDefault {
		errs = append(errs, field.Invalid(path.Child("dnsPolicy"), pod.DNSPolicy,
			"under it a pod does not resolve the others' names, as intranet Service needs it to: leave it out, or use spec.intranet: PodIP"))
	}
	return errs
}

// validateNames checks labels, annotations, and names of other objects.
func validateNames(template *corev1.PodTemplateSpec, path *field.Path) field.ErrorList {
	metadata, spec := path.Child("metadata"), path.Child("spec")
	errs := metav1validation.ValidateLabels(template.Labels, metadata.Child("labels"))
	errs = append(errs, apivalidation.ValidateAnnotations(template.Annotations, metadata.Child("annotations"))...)
	errs = append(errs, metav1validation.ValidateLabels(template.Spec.NodeSelector, spec.Child("nodeSelector"))...)
	// They come in the order of maps.
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	for _, name := range []struct{ field, value string }{
		{"priorityClassName", template.Spec.PriorityClassName},
		{"serviceAccountName", template.Spec.ServiceAccountName},
	} {
		if name.value != "" && len(validation.IsDNS1123Subdomain(name.value)) > 0 {
			errs = append(errs, field.Invalid(spec.Child(name.field), name.value, "use lower case letters, digits, '-' and '.'"))
		}
	}
	return errs
}

// validateContainers checks frequent errors in containers.
func validateContainers(pod *corev1.PodSpec, hostNetwork bool, path *field.Path) (errs field.ErrorList) {
	names := sets.New[string]()
	for _, list := range containerLists(pod) {
		for i := range list.containers {
			container, at := &list.containers[i], path.Child(list.field).Index(i)
			if len(validation.IsDNS1123Label(container.Name)) > 0 {
				errs = append(errs, field.Invalid(at.Child("name"), container.Name, "use lower case letters, digits and '-'"))
			}
			if names.Has(container.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), container.Name, "another container has it: choose another"))
			}
			names.Insert(container.Name)
			if strings.TrimSpace(container.Image) == "" {
				errs = append(errs, field.Required(at.Child("image"), "set it to the image to run"))
			}
			for j, variable := range container.Env {
				if len(validation.IsEnvVarName(variable.Name)) > 0 {
					errs = append(errs, field.Invalid(at.Child("env").Index(j).Child("name"), variable.Name, "use letters, digits, '_', '-' and '.'"))
				}
			}
			for j, port := range container.Ports {
				if hostNetwork && list.field == "containers" && port.HostPort != 0 && port.HostPort != port.ContainerPort {
					errs = append(errs, field.Invalid(at.Child("ports").Index(j).Child("hostPort"), port.HostPort, fmt.Sprintf(
						"with intranet Host it is the containerPort, %d: leave it out", port.ContainerPort)))
				}
			}
			errs = append(errs, validateResources(container.Resources, at.Child("resources"))...)
		}
	}
	return errs
}

type containerList struct {
	field      string
	containers []corev1.Container
}

func containerLists(pod *corev1.PodSpec) []containerList {
	return []containerList{{"initContainers", pod.InitContainers}, {"containers", pod.Containers}}
}

func validateResources(resources corev1.ResourceRequirements, path *field.Path) (errs field.ErrorList) {
	requests, limits := path.Child("requests"), path.Child("limits")
	for _, name := range sets.List(sets.KeySet(resources.Limits).Union(sets.KeySet(resources.Requests))) {
		request, requested := resources.Requests[name]
		limit, limited := resources.Limits[name]
		switch {
		case request.Sign() < 0:
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(), "it is negative: use 0 or more"))
		case limit.Sign() < 0:
			errs = append(errs, field.Invalid(limits.Key(string(name)), limit.String(), "it is negative: use 0 or more"))
		case requested && limited && request.Cmp(limit) > 0:
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(), fmt.Sprintf(
				"it is above the limit %s: lower it, or raise the limit", limit.String())))
		case builder.IsExtended(name) && requested && (!limited || request.Cmp(limit) != 0):
			errs = append(errs, field.Invalid(requests.Key(string(name)), request.String(),
				"it cannot be shared, so its limit must equal its request: set the limit only"))
		}
	}
	return errs
}

// svcPath is where Volcano's svc plugin mounts its list of hosts in every container.
const svcPath = "/etc/volcano"

// validateVolumes checks that every mount has its volume, and that none conflicts with those that Volcano adds.
func validateVolumes(pod *corev1.PodSpec, job string, path *field.Path) (errs field.ErrorList) {
	volumes := sets.New[string]()
	for i := range pod.Volumes {
		name, at := pod.Volumes[i].Name, path.Child("volumes").Index(i).Child("name")
		switch {
		case len(validation.IsDNS1123Label(name)) > 0:
			errs = append(errs, field.Invalid(at, name, "use lower case letters, digits and '-'"))
		case volumes.Has(name) || name == job+"-svc":
			errs = append(errs, field.Invalid(at, name, "another volume has it: choose another"))
		}
		volumes.Insert(name)
	}
	for _, list := range containerLists(pod) {
		for i := range list.containers {
			at := path.Child(list.field).Index(i).Child("volumeMounts")
			errs = append(errs, validateMounts(list.containers[i].VolumeMounts, volumes, at)...)
		}
	}
	return errs
}

func validateMounts(mounts []corev1.VolumeMount, volumes sets.Set[string], path *field.Path) (errs field.ErrorList) {
	paths := sets.New(svcPath)
	for i := range mounts {
		at := path.Index(i)
		if !volumes.Has(mounts[i].Name) {
			errs = append(errs, field.Invalid(at.Child("name"), mounts[i].Name, "the template has no such volume: add it, or correct the name"))
		}
		switch mountPath := mounts[i].MountPath; {
		case mountPath == "":
			errs = append(errs, field.Required(at.Child("mountPath"), "set it to where "+mounts[i].Name+" is mounted"))
		case paths.Has(mountPath):
			errs = append(errs, field.Invalid(at.Child("mountPath"), mountPath, "another mount has it: choose another"))
		default:
			paths.Insert(mountPath)
		}
	}
	return errs
}
